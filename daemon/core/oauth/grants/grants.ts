/** Finding grants and ending them. */
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

/** A grant as it was, and the outcome of the keys that it created. */
export interface RevokedGrant {
  readonly grant: Grant
  readonly keys: KeyFates
}

/** Longer than the last token of a grant may live. */
const endedMs = 86_400_000

export class Grants {
  readonly #options: GrantOptions

  constructor(options: GrantOptions) {
    this.#options = options
  }

  /** Undefined when there is none, or it was revoked. */
  async find(id: string): Promise<StoredGrant | undefined> {
    const found = await this.#options.database.lookup(oauthGrants, 'id', [id])
    return found?.record.revokedAt === null ? found : undefined
  }

  /** Undefined also when its project or organization was deleted: nothing can be done with it. */
  async standing(id: string): Promise<StoredGrant | undefined> {
    const found = await this.find(id)
    if (!found) return undefined
    const { organization, deleted } = await this.#options.policies.of(found.organizationId)
    return organization.deletedAt === undefined && !deleted.has(found.record.projectId) ? found : undefined
  }

  /**
   * Ends the grant with every token of it, at once, and the keys that were created by it, but for those to keep, which then follow
   * their user alone. Again does nothing.
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

  /** Adds to the write that grants of the organization go which ended a day ago or more. */
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

  /** How far the holder reaches on a surface now; undefined when a user is no member any more. */
  async levelOfHolder({ userId }: Grant, organizationId: string, surface: Surface): Promise<number | undefined> {
    if (userId === null) return levelOfAnonymous(surface)
    const member = await this.#options.scopesOfMember(organizationId, userId)
    return member && levelOfScopes(member.scopes, surface)
  }

  /**
   * What a token may do now: no more than it says, than its grant says today, and than its holder may; and where a person approves what
   * agents send, an agent reads alone over REST. Undefined when the holder may do nothing in the organization.
   */
  async liveScopes(grant: StoredGrant, inToken: readonly OAuthScope[], surface: Surface): Promise<readonly OAuthScope[] | undefined> {
    const held = await this.levelOfHolder(grant.record, grant.organizationId, surface)
    if (held === undefined) return undefined
    const most = await this.#mostBeside(grant, surface)
    return scopesUpTo(surface, Math.min(levelOf(inToken, surface), levelOf(grant.record.scopes, surface), held, most))
  }

  /** REST sends without asking, and makes what sends: a grant that is for an agent, too, would lead past the approval. */
  async #mostBeside({ record: { scopes, projectId }, organizationId }: StoredGrant, surface: Surface): Promise<Level> {
    if (surface === 'mcp' || levelOf(scopes, 'mcp') < 0) return Infinity
    return approvesAgents(await this.#options.policies.of(organizationId), projectId) ? quietLevel.rest : Infinity
  }
}
