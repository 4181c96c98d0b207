/** The token endpoint: exchanges a code, a refresh token or the bootstrap client id for an access token (RFC 6749 §3.2). */
import { recordKey } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { accessTokenSeconds, type AccessTokens } from '../tokens/access-tokens.ts'
import { findAuthorizationCode, useAuthorizationCode, verifiesChallenge } from '../grants/authorization-code.ts'
import { anonymousBootstrapClientId } from '../clients/client.ts'
import type { ClientRequest, Clients } from '../clients/clients.ts'
import { oauthGrants, type Grant, type StoredGrant } from '../grants/grant.ts'
import type { Grants } from '../grants/grants.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { Parameters } from '../protocol/parameters.ts'
import { addRefreshToken, findRefreshToken, grantMs, useRefreshToken, type StoredRefreshToken } from '../tokens/refresh-tokens.ts'
import { Refusal } from '../../refusals.ts'
import { transact } from '../../writes/transact.ts'
import type { Sandboxes } from './sandboxes.ts'
import {
  capAnonymous,
  covers,
  oauthScopes,
  ofSurface,
  parseResource,
  parseScopes,
  surfaces,
  type OAuthScope,
  type OAuthUrls,
  type Surface,
} from '../protocol/scopes.ts'

/** Security events of the token endpoint; implementations must not throw. */
export interface TokenEvents {
  /** A code or refresh token was used twice: it was stolen, or the client sent two concurrent requests. Its grant has been revoked. */
  tokenReused(what: 'code' | 'refresh token', grant: Grant): void
}

/** Sends mail to users about applications that they approved. */
export interface TokenNotices {
  accessEnded(userId: string, clientName: string, endedKeys: readonly string[]): void
}

export interface TokenEndpointOptions extends Core {
  readonly urls: OAuthUrls
  readonly clients: Clients
  readonly tokens: AccessTokens
  readonly grants: Grants
  readonly sandboxes: Sandboxes
  readonly events: TokenEvents
  readonly notices: TokenNotices
}

/** Successful response, RFC 6749 §5.1. */
export interface TokenAnswer {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly scopes: readonly OAuthScope[]
  /** Undefined for clients without the grant type `refresh_token`. */
  readonly refreshToken: string | undefined
  /** Only for a new sandbox. */
  readonly projectId: string | undefined
}

/** Parts of a response. */
interface Issue {
  readonly organizationId: string
  readonly grant: Grant
  readonly surface: Surface
  readonly scopes: readonly OAuthScope[]
  readonly refreshToken: string | undefined
}

export class TokenEndpoint {
  readonly #options: TokenEndpointOptions

  constructor(options: TokenEndpointOptions) {
    this.#options = options
  }

  /** Throws `OAuthError`. */
  async answer(request: ClientRequest): Promise<TokenAnswer> {
    const { parameters } = request
    parameters.assertOnce()
    const clientId = await this.#options.clients.authenticate(request)
    const grantType = parameters.need('grant_type')
    const isBootstrap = clientId === anonymousBootstrapClientId
    if (grantType === 'refresh_token') return this.#refresh(clientId, parameters)
    if (grantType === 'authorization_code' && !isBootstrap) return this.#exchange(clientId, parameters)
    if (grantType === 'client_credentials' && isBootstrap) return this.#bootstrap(parameters, request.remoteAddress)
    if (grantType === 'authorization_code' || grantType === 'client_credentials')
      throw new OAuthError('unauthorized_client', 'This client is not allowed to use this grant type.')
    throw new OAuthError(
      'unsupported_grant_type',
      'The grant_type must be authorization_code, refresh_token or, for the anonymous bootstrap, client_credentials.',
    )
  }

  /** Creates an anonymous sandbox with at most the scopes of anonymous callers. Spec "Authentication" 3. */
  async #bootstrap(parameters: Parameters, remoteAddress: string): Promise<TokenAnswer> {
    const { urls } = this.#options
    const asked = parseScopes(parameters.get('scope'))
    const granted = capAnonymous(asked.length === 0 ? oauthScopes : asked)
    const surface = parseResource(urls, parameters.resources) ?? (ofSurface(granted, 'mcp').length === 0 ? 'rest' : 'mcp')
    const scopes = ofSurface(granted, surface)
    if (scopes.length === 0) throw new OAuthError('invalid_scope', 'None of the scopes belongs to the requested resource.')
    const { organizationId, grant, refreshToken } = await this.#options.sandboxes.make(granted, surface, remoteAddress)
    return { ...(await this.#issue({ organizationId, grant, surface, scopes, refreshToken })), projectId: grant.projectId }
  }

  /** Exchanges a code; RFC 6749 §4.1.3, RFC 7636 §4.6. */
  async #exchange(clientId: string, parameters: Parameters): Promise<TokenAnswer> {
    const { database, clock, grants, writes } = this.#options
    const text = parameters.need('code')
    const verifier = parameters.need('code_verifier')
    const redirectUri = parameters.get('redirect_uri')
    const first = await findAuthorizationCode(database, text)
    if (!first) throw invalidGrant('The code is unknown or expired.')
    const { organizationId, grantId } = first.code
    const issue = await writes
      .run(organizationId, async (change): Promise<Issue | 'replayed'> => {
        const found = await findAuthorizationCode(database, text)
        if (!found) throw invalidGrant('The code is unknown or expired.')
        const { code } = found
        if (code.isUsed) return 'replayed'
        if (code.expiresAt <= clock.now()) throw invalidGrant('The code is unknown or expired.')
        if (code.clientId !== clientId) throw invalidGrant('The code was issued to another client.')
        if (code.redirectUri !== redirectUri) throw invalidGrant('The redirect_uri differs from that of the authorization request.')
        if (!verifiesChallenge(verifier, code.codeChallenge)) throw invalidGrant('The code_verifier does not match the code_challenge.')
        const stored = await grants.standing(grantId)
        if (!stored) throw invalidGrant('The approval was revoked in the meantime.')
        const { surface, scopes } = this.#choose(stored.record.scopes, parameters, undefined)
        if ((await grants.levelOfHolder(stored.record, organizationId, surface)) === undefined)
          throw invalidGrant('The user who approved is no longer a member of the organization.')
        const now = clock.now()
        const grant = { ...stored.record, expiresAt: now + (code.mayRefresh ? grantMs : accessTokenSeconds * 1000) }
        change.replace(oauthGrants, organizationId, stored, grant)
        useAuthorizationCode(change, found, now)
        const refreshToken = code.mayRefresh ? addRefreshToken(change, grant, surface, now) : undefined
        return { organizationId, grant, surface, scopes, refreshToken }
      })
      .catch(asBusy)
    if (issue !== 'replayed') return this.#issue(issue)
    await this.#revokeReused('code', grantId)
    throw invalidGrant('The code was used before; the tokens issued for it are revoked.')
  }

  /** Refreshes a token (RFC 6749 §6). If two requests use the same token, the first succeeds and the second ends the grant. */
  async #refresh(clientId: string, parameters: Parameters): Promise<TokenAnswer> {
    const { database, clock, grants, sandboxes } = this.#options
    const text = parameters.need('refresh_token')
    const { grantId } = (await this.#findRefreshToken(clientId, text)).token
    const reach = { organizationId: (await grants.find(grantId))?.organizationId ?? '' } // if the grant has ended, nothing is written
    const issue = await transact(database, reach, async (change): Promise<Issue | 'replayed'> => {
      const found = await this.#findRefreshToken(clientId, text)
      const { token } = found
      if (token.usedAt !== null) return 'replayed'
      const stored = await this.#refreshable(grantId, token.expiresAt, token.surface)
      const { record: grant, organizationId } = stored
      const { surface, scopes } = this.#choose(grant.scopes, parameters, token.surface)
      useRefreshToken(change, found, clock.now())
      change.checks.push({ key: recordKey(oauthGrants, organizationId, grant.id), version: stored.version })
      const refreshToken = addRefreshToken(change, grant, surface, clock.now())
      sandboxes.touch(change, organizationId, grant)
      return { organizationId, grant, surface, scopes, refreshToken }
    }).catch(asBusy)
    if (issue !== 'replayed') return this.#issue(issue)
    await this.#revokeReused('refresh token', grantId)
    throw invalidGrant('The refresh token was used before; the whole grant is revoked.')
  }

  async #findRefreshToken(clientId: string, text: string): Promise<StoredRefreshToken> {
    const found = await findRefreshToken(this.#options.database, text)
    if (found?.token.clientId !== clientId) throw invalidGrant('The refresh token is unknown or expired.')
    return found
  }

  async #revokeReused(what: 'code' | 'refresh token', grantId: string): Promise<void> {
    const { events, notices, grants } = this.#options
    const ended = await grants.revoke(grantId, { kind: 'service', id: '' }, { reason: `${what} used twice` })
    if (!ended) return
    const { grant, keys } = ended
    events.tokenReused(what, grant)
    if (grant.userId !== null) {
      const names = keys.ended.map(({ name }) => name)
      notices.accessEnded(grant.userId, grant.clientName, names)
    }
  }

  async #refreshable(grantId: string, expiresAt: number, surface: Surface): Promise<StoredGrant> {
    const { clock, grants } = this.#options
    const stored = expiresAt > clock.now() ? await grants.standing(grantId) : undefined
    if (!stored) throw invalidGrant('The refresh token is expired or revoked.')
    if ((await grants.levelOfHolder(stored.record, stored.organizationId, surface)) === undefined)
      throw invalidGrant('The user who approved is no longer a member of the organization.')
    return stored
  }

  /** Returns the surface and scopes of the new token, which never exceed the grant. */
  #choose(
    granted: readonly OAuthScope[],
    parameters: Parameters,
    surfaceBefore: Surface | undefined,
  ): { readonly surface: Surface; readonly scopes: readonly OAuthScope[] } {
    const { urls } = this.#options
    const open = surfaces.filter((one) => ofSurface(granted, one).length > 0)
    const surface = parseResource(urls, parameters.resources) ?? surfaceBefore ?? (open.length === 1 ? open[0] : undefined)
    if (!surface) throw new OAuthError('invalid_target', 'Several resources were granted; give the resource of this token.')
    if (!open.includes(surface)) throw new OAuthError('invalid_target', 'This resource was not granted.')
    const asked = parseScopes(parameters.get('scope'))
    if (!covers(granted, asked)) throw new OAuthError('invalid_scope', 'The request exceeds the grant; ask the user for consent again.')
    const scopes = ofSurface(asked.length === 0 ? granted : asked, surface)
    if (scopes.length > 0) return { surface, scopes }
    throw new OAuthError('invalid_scope', 'None of the scopes belongs to the requested resource.')
  }

  async #issue({ organizationId, grant, surface, scopes, refreshToken }: Issue): Promise<TokenAnswer> {
    const { id: grantId, projectId, userId, clientId } = grant
    const accessToken = await this.#options.tokens.issue(surface, { grantId, organizationId, projectId, userId, clientId, scopes })
    return { accessToken, expiresInSeconds: accessTokenSeconds, scopes, refreshToken, projectId: undefined }
  }
}

const invalidGrant = (description: string): OAuthError => new OAuthError('invalid_grant', description)

/** Converts a conflict of concurrent changes of a grant into an OAuth error. */
function asBusy(error: unknown): never {
  if (error instanceof Refusal && error.code === 'conflict')
    throw new OAuthError('temporarily_unavailable', 'The grant is being changed; try again.', { retryAfterSeconds: 1 })
  throw error
}
