/** Finding grants and ending them. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { RightsOfMember } from '../access/members.ts'
import type { GrantSettingsSource } from '../access/settings.ts'
import type { Actor, Audit } from '../audit.ts'
import type { Clock } from '../clock.ts'
import type { SettingWrites } from '../setting-writes.ts'
import { oauthGrants, type Grant } from './grant.ts'
import { levelOf, levelOfAnonymous, levelOfRights, scopesUpTo, type OAuthScope, type Surface } from './scopes.ts'

export interface GrantOptions {
  readonly database: Database
  readonly writes: SettingWrites
  readonly clock: Clock
  readonly policies: GrantSettingsSource
  readonly audit: Audit
  readonly rightsOfMember: RightsOfMember
}

/** A grant where it is stored. */
export type StoredGrant = Stored<Grant> & { readonly organizationId: string }

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

  /** Ends the grant with every token of it, at once, and answers it; again does nothing. `reason` is for the audit log. */
  async revoke(id: string, actor: Actor, reason?: string): Promise<Grant | undefined> {
    const { writes, clock, audit } = this.#options
    const found = await this.find(id)
    if (!found) return undefined
    return writes.run(found.organizationId, async (change) => {
      const now = await this.find(id)
      if (!now) return undefined
      const { organizationId, record } = now
      change.replace(oauthGrants, organizationId, now, { ...record, revokedAt: clock.now() })
      const details = { name: record.clientName, ...(reason !== undefined && { reason }) }
      audit.record(change, { organizationId, projectId: record.projectId, actor, act: 'oauth_grant.revoked', target: id, details })
      return record
    })
  }

  /** Adds to the write that grants of the organization go which ended a day ago or more. */
  async removeEnded(change: Change, organizationId: string): Promise<void> {
    const now = this.#options.clock.now()
    for (const stored of await this.#options.database.all(oauthGrants, { organizationId })) {
      const { revokedAt, expiresAt } = stored.record
      if (Math.min(revokedAt ?? expiresAt, expiresAt) + endedMs <= now) change.remove(oauthGrants, organizationId, stored)
    }
  }

  /** How far the holder reaches on a surface now; undefined when a user is no member any more. */
  async levelOfHolder({ userId }: Grant, organizationId: string, surface: Surface): Promise<number | undefined> {
    if (userId === null) return levelOfAnonymous(surface)
    const member = await this.#options.rightsOfMember(organizationId, userId)
    return member && levelOfRights(member.rights, surface)
  }

  /**
   * What a token may do now: no more than it says, than its grant says today, and than its holder may. Undefined when the
   * holder may do nothing in the organization.
   */
  async liveScopes(grant: StoredGrant, inToken: readonly OAuthScope[], surface: Surface): Promise<readonly OAuthScope[] | undefined> {
    const held = await this.levelOfHolder(grant.record, grant.organizationId, surface)
    if (held === undefined) return undefined
    return scopesUpTo(surface, Math.min(levelOf(inToken, surface), levelOf(grant.record.scopes, surface), held))
  }
}
