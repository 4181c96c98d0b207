/** Authenticates a presented access token: issued here for this surface, unexpired, and with a valid grant. */
import { hash } from 'node:crypto'
import type { KeyUses } from '../../access/keys/key-uses.ts'
import type { ScopesOfMember } from '../../access/principal/member-scopes.ts'
import type { Principal, TokenHolder } from '../../access/principal/principal.ts'
import { scopesInOrder, type Scope } from '../../access/principal/principal.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../refusals.ts'
import type { AccessTokens, ReadAccessToken } from './access-tokens.ts'
import type { StoredGrant } from '../grants/grant.ts'
import type { Grants } from '../grants/grants.ts'
import { agentAccess, levelOf, type Level, type OAuthScope, type Surface } from '../protocol/scopes.ts'
import { RecentMap } from '../../recent-map.ts'

export interface TokenCheckOptions {
  /** Increases with every change of an organization's settings; see `Database.generation`. */
  readonly database: { generation(organizationId: string): number }
  readonly scopesOfMember: ScopesOfMember
  readonly tokens: AccessTokens
  readonly grants: Grants
  readonly uses: Pick<KeyUses, 'note'>
  readonly clock: Clock
}

/** The holder of a presented token, and its current permissions on the surface. */
export interface TokenBearer {
  readonly organizationId: string
  readonly projectId: string
  readonly grantId: string
  readonly clientId: string
  readonly holder: TokenHolder
  readonly scopes: readonly OAuthScope[]
  /** See `Grant`. */
  readonly reachesOrganization: true | undefined
  /** See `Grant`. */
  readonly toolsets: readonly string[] | undefined
  /** Index of the highest scope that could be granted to its holder on this surface now. */
  readonly mostLevel: Level
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

  /** Throws `unauthorized` with the same message for every token that does not work. */
  async bearer(token: string, surface: Surface): Promise<TokenBearer> {
    const cached = await this.#find(token, surface)
    if (!cached) throw refused()
    const { grants } = this.#options
    const mostLevel = await grants.levelOfHolder(cached.grant.record, cached.grant.organizationId, surface)
    const scopes = await grants.liveScopes(cached.grant, cached.token.scopes, surface)
    if (!scopes || mostLevel === undefined) throw refused()
    const { id: grantId, projectId, clientId, clientName, userId, reachesOrganization, toolsets } = cached.grant.record
    const holder: TokenHolder =
      userId === null ? { kind: 'anonymous' } : { kind: 'user', userId, application: { grantId, clientId, clientName } }
    const { organizationId } = cached.grant
    if (userId !== null) this.#options.uses.note(organizationId, { id: grantId, projectId })
    const { expiresAt } = cached.token
    return { organizationId, projectId, grantId, clientId, holder, scopes, reachesOrganization, toolsets, mostLevel, expiresAt }
  }

  /** Returns the principal of a token for REST. Throws `unauthorized`. */
  async restPrincipal(token: string): Promise<Principal> {
    const bearer = await this.bearer(token, 'rest')
    return this.#principal(
      bearer,
      scopesInOrder.filter((scope) => bearer.scopes.includes(scope)),
    )
  }

  /** Returns the principal of a token for agents. Throws `unauthorized`. */
  async agentPrincipal(token: string): Promise<Principal> {
    const bearer = await this.bearer(token, 'mcp')
    const level = levelOf(bearer.scopes, 'mcp')
    const { scopes, sandboxOnly } = agentAccess(level)
    const { mostLevel, reachesOrganization, toolsets } = bearer
    return { ...(await this.#principal(bearer, scopes)), agent: { level, mostLevel, sandboxOnly, reachesOrganization, toolsets } }
  }

  async #principal({ organizationId, projectId, grantId, holder }: TokenBearer, scopes: readonly Scope[]): Promise<Principal> {
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
    const generation = database.generation(found.organizationId) // fetched before the second read, to notice later changes
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
