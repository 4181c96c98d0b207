/** The check of a presented access token: ours, for this surface, not expired, and its grant still stands. */
import { hash } from 'node:crypto'
import type { ScopesOfMember } from '../../access/principal/member-scopes.ts'
import type { Principal, TokenHolder } from '../../access/principal/principal.ts'
import { scopesInOrder } from '../../access/principal/principal.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../refusals.ts'
import type { AccessTokens, ReadAccessToken } from './access-tokens.ts'
import type { StoredGrant } from '../grants/grant.ts'
import type { Grants } from '../grants/grants.ts'
import type { OAuthScope, Surface } from '../protocol/scopes.ts'
import { RecentMap } from '../../recent-map.ts'

export interface TokenCheckOptions {
  /** Grows with every change of settings of an organization; see `Database.generation`. */
  readonly database: { generation(organizationId: string): number }
  readonly scopesOfMember: ScopesOfMember
  readonly tokens: AccessTokens
  readonly grants: Grants
  readonly clock: Clock
}

/** Who presents a token, and what it may do on the surface that it was presented to. */
export interface TokenBearer {
  readonly organizationId: string
  readonly projectId: string
  readonly grantId: string
  readonly clientId: string
  readonly holder: TokenHolder
  readonly scopes: readonly OAuthScope[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

interface CachedToken {
  readonly token: ReadAccessToken
  readonly grant: StoredGrant
  readonly generation: number
  readonly seenAt: number
}

const maxCached = 10_000
const cachedMs = 60_000

export class TokenCheck {
  readonly #options: TokenCheckOptions
  readonly #cached = new RecentMap<string, CachedToken>(maxCached)

  constructor(options: TokenCheckOptions) {
    this.#options = options
  }

  /** Throws `unauthorized`, with the same words for every token that does not work. */
  async bearer(token: string, surface: Surface): Promise<TokenBearer> {
    const cached = await this.#find(token, surface)
    if (!cached) throw refused()
    const scopes = await this.#options.grants.liveScopes(cached.grant, cached.token.scopes, surface)
    if (!scopes) throw refused()
    const { id: grantId, projectId, clientId, clientName, userId } = cached.grant.record
    const holder: TokenHolder =
      userId === null ? { kind: 'anonymous' } : { kind: 'user', userId, application: { grantId, clientId, clientName } }
    return { organizationId: cached.grant.organizationId, projectId, grantId, clientId, holder, scopes, expiresAt: cached.token.expiresAt }
  }

  /** The principal of a token for REST. Throws `unauthorized`. */
  async restPrincipal(token: string): Promise<Principal> {
    const { organizationId, projectId, grantId, holder, scopes: granted } = await this.bearer(token, 'rest')
    const scopes = scopesInOrder.filter((scope) => granted.includes(scope))
    const member = holder.kind === 'user' ? await this.#options.scopesOfMember(organizationId, holder.userId) : undefined
    const projectsOnly = holder.kind === 'user' && !member?.administersOrganization
    return { organizationId, projectId, bound: true, scopes, credentialId: grantId, holder, ...(projectsOnly && { projectsOnly }) }
  }

  async #find(token: string, surface: Surface): Promise<CachedToken | undefined> {
    const { database, clock } = this.#options
    const key = `${surface} ${hash('sha256', token)}`
    const kept = this.#cached.get(key)
    const now = clock.now()
    const isFresh = kept && now < kept.seenAt + cachedMs && now < kept.token.expiresAt
    if (isFresh && kept.generation === database.generation(kept.grant.organizationId)) return kept
    this.#cached.delete(key)
    const cached = await this.#look(token, surface)
    if (!cached) return undefined
    this.#cached.set(key, cached)
    return cached
  }

  async #look(token: string, surface: Surface): Promise<CachedToken | undefined> {
    const { database, tokens, grants, clock } = this.#options
    const read = await tokens.read(token, surface)
    const found = read && (await grants.find(read.grantId))
    if (!found) return undefined
    const generation = database.generation(found.organizationId) // before the grant is read again, so that a later change is noticed
    const grant = await grants.standing(read.grantId)
    if (grant?.organizationId !== found.organizationId) return undefined
    return { token: read, grant, generation, seenAt: clock.now() }
  }
}

const refused = (): Refusal =>
  new Refusal(
    'unauthorized',
    'This access token is unknown, expired, revoked or for another service; get a new one from the authorization server.',
  )
