/** Finds grants, ends them, and limits their scopes to the current permissions. */
import type { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { keyUses } from '../../access/keys/key-uses.ts'
import type { KeyFates } from '../../access/keys/dependent-keys.ts'
import { approvesAgents } from '../../access/principal/agent-approval.ts'
import type { ScopesOfMember } from '../../access/principal/member-scopes.ts'
import type { Actor } from '../../writes/audit.ts'
import { endGrant, type GrantEnding } from './end-grant.ts'
import { oauthGrants, type Grant, type StoredGrant } from './grant.ts'
import {
  levelOf,
  levelOfAnonymous,
  levelOfScopes,
  quietLevel,
  scopesUpTo,
  type Level,
  type OAuthScope,
  type Surface,
} from '../protocol/scopes.ts'

export interface GrantOptions extends Core {
  readonly scopesOfMember: ScopesOfMember
}

/** The revoked grant, and the ended and kept keys that it created. */
export interface RevokedGrant {
  readonly grant: Grant
  readonly keys: KeyFates
}

/** Longer than the lifetime of the last token of a grant. */
const endedMs = 86_400_000

export class Grants {
  readonly #options: GrantOptions

  constructor(options: GrantOptions) {
    this.#options = options
  }

  /** Returns undefined for missing and revoked grants. */
  async find(id: string): Promise<StoredGrant | undefined> {
    const found = await this.#options.database.lookup(oauthGrants, 'id', [id])
    return found?.record.revokedAt === null ? found : undefined
  }

  /** Like `find`, but also returns undefined if the project or organization of the grant was deleted. */
  async standing(id: string): Promise<StoredGrant | undefined> {
    const found = await this.find(id)
    if (!found) return undefined
    const { organization, deleted } = await this.#options.policies.of(found.organizationId)
    return organization.deletedAt === undefined && !deleted.has(found.record.projectId) ? found : undefined
  }

  /**
   * Ends the grant and all its tokens immediately, and revokes keys that were created with it. Kept keys follow only their user afterwards.
   * Repeating the call has no effect.
   */
  async revoke(id: string, actor: Actor, how: GrantEnding = {}): Promise<RevokedGrant | undefined> {
    const { writes, clock, audit, database } = this.#options
    const found = await this.find(id)
    if (!found) return undefined
    return writes.run(found.organizationId, async (change) => {
      const stored = await this.find(id)
      if (!stored) return undefined
      const keys = await endGrant({ database, audit, change, actor, now: clock.now() }, stored, how)
      return { grant: stored.record, keys }
    })
  }

  /** Adds to the write the removal of the organization's grants that ended at least a day ago. */
  async removeEnded(change: Change, organizationId: string): Promise<void> {
    const now = this.#options.clock.now()
    for (const stored of await this.#options.database.all(oauthGrants, { organizationId })) {
      const { revokedAt, expiresAt } = stored.record
      if (Math.min(revokedAt ?? expiresAt, expiresAt) + endedMs > now) continue
      change.remove(oauthGrants, organizationId, stored)
      const use = await this.#options.database.get(keyUses, { organizationId }, stored.record.id)
      if (use) change.remove(keyUses, organizationId, use)
    }
  }

  /**
   * Returns the highest scope that the user's role allows for the MCP server or the REST API, as its index in ascending order. Returns
   * undefined if the user is no longer a member.
   */
  async levelOfHolder({ userId }: Grant, organizationId: string, surface: Surface): Promise<number | undefined> {
    if (userId === null) return levelOfAnonymous(surface)
    const member = await this.#options.scopesOfMember(organizationId, userId)
    return member && levelOfScopes(member.scopes, surface)
  }

  /**
   * Returns the current scopes of a token, limited by the token, its grant and the user's role. If messages of agents need approval, an
   * agent's grant can only read over REST. Returns undefined if the user is no longer a member.
   */
  async liveScopes(grant: StoredGrant, inToken: readonly OAuthScope[], surface: Surface): Promise<readonly OAuthScope[] | undefined> {
    const held = await this.levelOfHolder(grant.record, grant.organizationId, surface)
    if (held === undefined) return undefined
    const most = await this.#mostBeside(grant, surface)
    return scopesUpTo(surface, Math.min(levelOf(inToken, surface), levelOf(grant.record.scopes, surface), held, most))
  }

  /**
   * Returns the highest level that the approval setting allows. REST sends without approval, so a REST scope of an agent's grant could
   * bypass the approval.
   */
  async #mostBeside({ record: { scopes, projectId }, organizationId }: StoredGrant, surface: Surface): Promise<Level> {
    if (surface === 'mcp' || levelOf(scopes, 'mcp') < 0) return Infinity
    return approvesAgents(await this.#options.policies.of(organizationId), projectId) ? quietLevel.rest : Infinity
  }
}
