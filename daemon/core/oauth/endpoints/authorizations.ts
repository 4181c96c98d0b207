/**
 * The authorization endpoint in two parts (RFC 6749 §4.1): the check of the request, and the response after the user's decision. The caller
 * shows the pages for sign-in and consent in between.
 */
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { projects } from '../../tenancy/organization.ts'
import { addAuthorizationCode, codeMs, isCodeChallenge } from '../grants/authorization-code.ts'
import type { Client } from '../clients/client.ts'
import type { Clients } from '../clients/clients.ts'
import { oauthGrants, type Grant } from '../grants/grant.ts'
import type { Grants } from '../grants/grants.ts'
import { OAuthError, type OAuthErrorCode } from '../protocol/oauth-error.ts'
import { Parameters } from '../protocol/parameters.ts'
import { isLoopbackRedirect, matchesRedirectUri, redirectHost, withParameters } from '../clients/redirect-uri.ts'
import type { Registrations } from '../clients/registrations.ts'
import {
  ofSurface,
  parseResources,
  parseScopes,
  surfaceOf,
  usualScopes,
  type OAuthScope,
  type OAuthUrls,
  type Surface,
} from '../protocol/scopes.ts'

export interface AuthorizationOptions extends Core {
  readonly urls: OAuthUrls
  readonly clients: Clients
  readonly registrations: Registrations
  readonly grants: Pick<Grants, 'levelOfHolder' | 'removeEnded'>
}

export const prompts = ['none', 'login', 'consent', 'select_account'] as const
export type Prompt = (typeof prompts)[number]

/** A valid request that a user can decide on. It contains no secrets; `check` of the same query returns it again. */
export interface PendingAuthorization {
  /** For display; without `verifiedHost` the name is unverified. */
  readonly client: Pick<Client, 'id' | 'name' | 'verifiedHost'>
  readonly mayRefresh: boolean
  readonly redirectUri: string
  /** Must always be displayed: the destination of the response. */
  readonly redirectHost: string
  /**
   * The response goes to a program on the user's machine. Pages must show a warning, because any program there can impersonate the client.
   */
  readonly isLoopback: boolean
  readonly state: string | undefined
  readonly codeChallenge: string
  readonly surfaces: readonly Surface[]
  /** Requested scopes; the user can approve fewer scopes, or other scopes of the same surfaces. */
  readonly scopes: readonly OAuthScope[]
  /** Whether the request contained scopes; otherwise `scopes` has the defaults. */
  readonly namesScopes: boolean
  /** With `none`, the caller must not show a page; it calls `deny` with `login_required` or `consent_required`. */
  readonly prompts: readonly Prompt[]
}

/** `problem`: show the error to the user without a redirect. `redirect`: return the error to the client. */
export type AuthorizationCheck =
  | { readonly kind: 'problem'; readonly error: OAuthError }
  | { readonly kind: 'redirect'; readonly location: string; readonly error: OAuthError }
  | { readonly kind: 'pending'; readonly pending: PendingAuthorization }

/** The approving user, and the approved permissions. */
export interface Approval {
  readonly userId: string
  readonly organizationId: string
  readonly projectId: string
  readonly scopes: readonly OAuthScope[]
  /** See `Grant`. */
  readonly reachesOrganization?: boolean | undefined
  /** See `Grant`. */
  readonly toolsets?: readonly string[] | undefined
}

/** Reason of a denial; RFC 6749 §4.1.2.1, and OpenID Connect Core for `prompt=none`. */
export type Denial = Extract<OAuthErrorCode, 'access_denied' | 'login_required' | 'consent_required' | 'interaction_required'>

const denials: Readonly<Record<Denial, string>> = {
  access_denied: 'The user denied the request.',
  login_required: 'The user must sign in first.',
  consent_required: 'The user must approve the request first.',
  interaction_required: 'The request requires a decision of the user.',
}

interface Return {
  readonly redirectUri: string
  readonly state: string | undefined
}

export class Authorizations {
  readonly #options: AuthorizationOptions

  constructor(options: AuthorizationOptions) {
    this.#options = options
  }

  /** Checks the whole request. OAuth errors are returned, not thrown. */
  async check(query: URLSearchParams, remoteAddress: string): Promise<AuthorizationCheck> {
    const parameters = new Parameters(query)
    let back: Return | undefined
    try {
      const client = await this.#options.clients.find(parameters.need('client_id'), remoteAddress)
      const redirectUri = checkedRedirectUri(client, parameters.need('redirect_uri'))
      back = { redirectUri, state: stateOf(parameters) }
      return { kind: 'pending', pending: this.#pending(client, redirectUri, parameters) }
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      return back ? { kind: 'redirect', location: this.#failure(back, error), error } : { kind: 'problem', error }
    }
  }

  /**
   * Returns the redirect URI with a code that is valid for a minute. The grant expires with the code unless the client exchanges it. Throws
   * `not_found` if the project does not belong to the organization. Throws `insufficient_scope` if the user is not a member, and
   * `validation_failed` for scopes of surfaces outside the request.
   */
  async approve(pending: PendingAuthorization, approval: Approval): Promise<string> {
    const { organizationId, projectId, userId, scopes, toolsets } = approval
    const reach = approval.reachesOrganization === true ? ({ reachesOrganization: true } as const) : {}
    const { database, clock, registrations, writes, grants, audit } = this.#options
    const [first] = scopes
    if (first === undefined || scopes.some((scope) => !pending.surfaces.includes(surfaceOf(scope))))
      throw new Refusal('validation_failed', 'Approve at least one of the requested scopes.')
    if (!(await database.get(projects, { organizationId }, projectId))) throw new Refusal('not_found', 'No project has this id.')
    const { client, mayRefresh, redirectUri, codeChallenge, state } = pending
    const code = await writes.run(organizationId, async (change) => {
      const createdAt = clock.now()
      const expiresAt = createdAt + codeMs
      const named = { clientId: client.id, clientName: client.name }
      const grant: Grant = {
        id: database.newId('grt', createdAt),
        ...named,
        projectId,
        userId,
        scopes,
        ...reach,
        ...(toolsets && { toolsets }),
        createdAt,
        expiresAt,
        revokedAt: null,
      }
      if ((await grants.levelOfHolder(grant, organizationId, surfaceOf(first))) === undefined)
        throw new Refusal('insufficient_scope', 'You are not a member of this organization.')
      await grants.removeEnded(change, organizationId)
      change.insert(oauthGrants, organizationId, grant)
      const details = {
        name: client.name,
        client: client.id,
        scopes,
        ...(approval.reachesOrganization === true && { reaches_organization: true }),
        ...(toolsets && { toolsets }),
      }
      const act = { act: 'oauth_grant.created', target: grant.id, details }
      audit.record(change, { organizationId, projectId, actor: { kind: 'user', id: userId }, ...act })
      await registrations.markUsed(change, client.id)
      const { id: grantId } = grant
      const bound = { clientId: client.id, redirectUri, codeChallenge, organizationId, grantId, mayRefresh }
      return addAuthorizationCode(change, { ...bound, expiresAt, isUsed: false })
    })
    return withParameters(redirectUri, { code, state, iss: this.#options.urls.issuer })
  }

  /** Returns the redirect URI with an error response. */
  deny(pending: PendingAuthorization, reason: Denial = 'access_denied'): string {
    return this.#failure(pending, new OAuthError(reason, denials[reason]))
  }

  /** Error response of RFC 6749 §4.1.2.1, with the issuer (RFC 9207 §2). */
  #failure({ redirectUri, state }: Return, { error, message }: OAuthError): string {
    return withParameters(redirectUri, { error, error_description: message, state, iss: this.#options.urls.issuer })
  }

  #pending({ id, name, verifiedHost, grantTypes }: Client, redirectUri: string, parameters: Parameters): PendingAuthorization {
    parameters.assertOnce()
    assertCodeFlow(parameters)
    const { urls } = this.#options
    const surfaces = parseResources(urls, parameters.resources)
    if (surfaces.length === 0)
      throw new OAuthError('invalid_target', `The parameter resource is missing: ${Object.values(urls.resources).join(' or ')}.`)
    return {
      ...{ redirectUri, surfaces },
      client: { id, name, ...(verifiedHost !== undefined && { verifiedHost }) },
      mayRefresh: grantTypes.includes('refresh_token'),
      redirectHost: redirectHost(redirectUri),
      isLoopback: isLoopbackRedirect(redirectUri),
      state: parameters.get('state'),
      codeChallenge: checkedChallenge(parameters),
      scopes: askedScopes(parameters, surfaces),
      namesScopes: parseScopes(parameters.get('scope')).length > 0,
      prompts: checkedPrompts(parameters.get('prompt')),
    }
  }
}

function checkedRedirectUri({ redirectUris }: Client, presented: string): string {
  if (redirectUris.some((registered) => matchesRedirectUri(registered, presented))) return presented
  throw new OAuthError('invalid_request', 'The redirect_uri is not registered for this client.')
}

/** Returns undefined for a repeated state, which cannot be returned to the client. */
function stateOf(parameters: Parameters): string | undefined {
  try {
    return parameters.get('state')
  } catch {
    return undefined
  }
}

function assertCodeFlow(parameters: Parameters): void {
  if (parameters.get('request') !== undefined)
    throw new OAuthError('request_not_supported', 'Give the parameters in the query, not in request.')
  if (parameters.get('request_uri') !== undefined)
    throw new OAuthError('request_uri_not_supported', 'Give the parameters in the query, not by request_uri.')
  if (parameters.need('response_type') !== 'code') throw new OAuthError('unsupported_response_type', 'The response_type must be code.')
  if ((parameters.get('response_mode') ?? 'query') !== 'query') throw new OAuthError('invalid_request', 'The response_mode must be query.')
}

/** Requires PKCE with the method S256 (RFC 7636 §4.4.1); refuses the method plain. */
function checkedChallenge(parameters: Parameters): string {
  if (parameters.need('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'The code_challenge_method must be S256.')
  const challenge = parameters.need('code_challenge')
  if (isCodeChallenge(challenge)) return challenge
  throw new OAuthError('invalid_request', 'The code_challenge must be a SHA-256 in base64url, 43 characters.')
}

function askedScopes(parameters: Parameters, surfaces: readonly Surface[]): readonly OAuthScope[] {
  const asked = parseScopes(parameters.get('scope'))
  if (asked.length === 0) return surfaces.flatMap((surface) => usualScopes(surface))
  if (asked.some((scope) => !surfaces.includes(surfaceOf(scope))))
    throw new OAuthError('invalid_scope', 'A requested scope belongs to another resource; request that resource, too.')
  if (surfaces.some((surface) => ofSurface(asked, surface).length === 0))
    throw new OAuthError('invalid_scope', 'The scope must contain at least one scope of each requested resource.')
  return asked
}

function checkedPrompts(text = ''): readonly Prompt[] {
  const words = text.split(' ').filter((word) => word !== '')
  const known = prompts.filter((prompt) => words.includes(prompt))
  if (known.length === words.length && !(known.includes('none') && known.length > 1)) return known
  throw new OAuthError('invalid_request', `The prompt must be none alone, or any of ${prompts.slice(1).join(', ')}.`)
}
