/**
 * Organizations as their administrators see them: the own one, and the team organizations that it made. A key belongs to one
 * organization, so a team organization begins with an administrator's key of its own. Spec "Limits" 1 and 3.
 */
import type { Database, Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { apiKeys } from '../access/keys/api-key.ts'
import { newKeyRecord } from '../access/keys/api-keys.ts'
import { pageOfLoaded, type List, type PageQuery } from '../access/principal/lists.ts'
import { reachOf, requireReach } from '../access/principal/organization-acts.ts'
import type { Principal } from '../access/principal/principal.ts'
import { requireRoom } from '../plan/limits.ts'
import { Refusal } from '../refusals.ts'
import { members, type Member } from '../people/members/member.ts'
import { meter } from '../tenancy/counters.ts'
import { allOrganizations, teamOrganizations } from '../tenancy/organization-list.ts'
import { organizations, type Organization } from '../tenancy/organization.ts'
import { insertProject } from '../beginnings/new-project.ts'
import { refuseWhileQueued } from './queued-mail.ts'
import { graceMs, organizationRemovalKey } from '../tenancy/removal-key.ts'
import type { Transaction } from '../writes/transact.ts'

export interface OrganizationOptions extends Core {
  /** Called when an organization was deleted: breaks off what is being sent for it. */
  readonly onDeleted: (organizationId: string) => Promise<void>
}

/** The only time that the key is shown. */
export interface MadeOrganization {
  readonly organization: Organization
  readonly apiKey: string
}

export class Organizations implements List<unknown, Organization> {
  readonly #options: OrganizationOptions

  constructor(options: OrganizationOptions) {
    this.#options = options
  }

  /** The own one first, then those it made, the oldest first. A key of one project sees the own one only. */
  async list(principal: Principal, query: PageQuery): Promise<Page<Organization>> {
    const { database, policies } = this.#options
    const { organization } = await policies.of(principal.organizationId)
    const all = [organization, ...(reachOf(principal, 'teams.read') === 'all' ? await teamOrganizations(database, organization.id) : [])]
    return pageOfLoaded(organizations, principal, all, query, { positionOf: ({ id }) => [id === organization.id ? 0 : 1, id] })
  }

  /** Throws `not_found` alike for missing, foreign and unreachable ids. */
  async get(principal: Principal, id: string): Promise<Organization> {
    return (await this.#stored(principal, id)).record
  }

  /**
   * A team organization on the plan free, with its project Default and an administrator's key; a signed-in person who makes it
   * owns it. Throws `quota_exhausted` past the number that the plan allows, and `conflict` for an organization that is a team
   * organization itself.
   */
  async create(principal: Principal, name: string): Promise<MadeOrganization> {
    requireReach(principal, 'teams.change')
    const { database, writes, policies, clock } = this.#options
    return writes.runAudited(principal, 'organization.created', async (change) => {
      const { organization: owner } = await policies.of(principal.organizationId)
      if (owner.ownerId !== undefined) throw new Refusal('conflict', 'A team organization cannot have team organizations.')
      requireRoom(owner, 'teamOrganizations', 'team organization', (await teamOrganizations(database, owner.id)).length)
      const now = clock.now()
      const id = database.newId('org', now)
      const { id: defaultProjectId } = insertProject(database, change, id, { name: 'Default', isDefault: true }, now)
      const organization: Organization = { id, name, plan: 'free', defaultProjectId, ownerId: owner.id, createdAt: now }
      const first = newKeyRecord(database, { name: 'First key', scopes: ['api:admin'], projectId: null, expiresAt: null }, now)
      change.insert(organizations, id, organization).insert(apiKeys, id, first.record)
      const { holder } = principal
      if (holder?.kind === 'user' && !holder.application)
        change.insert(members, id, { id: holder.userId, organizationId: id, role: 'owner', joinedAt: now } satisfies Member)
      meter(change, 'team_orgs', owner.id, undefined, now)
      return { organization, apiKey: first.key }
    })
  }

  /** Throws `not_found`. */
  async rename(principal: Principal, id: string, name: string): Promise<Organization> {
    requireReach(principal, id === principal.organizationId ? 'organization.change' : 'teams.change')
    return this.#options.writes.runAudited(principal, 'organization.updated', async (change) => {
      const stored = await this.#stored(principal, id)
      if (stored.record.name === name) return stored.record
      const record = { ...stored.record, name }
      change.replace(organizations, id, stored, record)
      return record
    })
  }

  /**
   * Ends a team organization: it leaves the count, and at once none of its keys and logins works and nothing is sent for it. The
   * operator can restore it for `graceDays`; then its rows go. A signed-in owner ends the own one too, as `removeOwn` does. Throws
   * `conflict` for the own one of everybody else, and while mail is queued that is not to be discarded.
   */
  async remove(principal: Principal, id: string, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    if (id === principal.organizationId && principal.owns) return this.removeOwn(principal, { discardQueued })
    requireReach(principal, 'teams.change')
    const { writes, onDeleted } = this.#options
    await writes.runAudited(principal, 'organization.deleted', async (change) => {
      const stored = await this.#stored(principal, id)
      if (id === principal.organizationId)
        throw new Refusal(
          'conflict',
          'Only the organization that created a team organization can delete it; this one was not created by yours.',
        )
      await this.#end(change, stored, discardQueued)
    })
    await onDeleted(id)
  }

  /**
   * Ends the organization of a signed-in owner in the same way. Throws `conflict` for the first one, which the service itself
   * stands on, while there are team organizations, and for queued mail.
   */
  async removeOwn(principal: Principal, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    if (!principal.owns) throw new Refusal('insufficient_scope', 'Only an owner who is signed in can delete an organization.')
    const { database, writes, onDeleted } = this.#options
    const { organizationId } = principal
    await writes.runAudited(principal, 'organization.deleted', async (change) => {
      const stored = await this.#stored(principal, organizationId)
      if (await isFirst(database, organizationId))
        throw new Refusal('conflict', 'The first organization belongs to the service itself and cannot be deleted.')
      if ((await teamOrganizations(database, organizationId)).length > 0)
        throw new Refusal('conflict', 'This organization has team organizations; delete those first.')
      await this.#end(change, stored, discardQueued)
    })
    await onDeleted(organizationId)
  }

  async #end(change: Transaction, stored: Stored<Organization>, discardQueued: boolean): Promise<void> {
    const { database, policies, clock } = this.#options
    const { id } = stored.record
    const policy = await policies.of(id)
    const deletedAt = clock.now()
    const deletion = { database, change, nowMs: deletedAt, what: 'organization' } as const
    if (!discardQueued) await refuseWhileQueued(deletion, policy, new Set(policy.projects.keys()))
    change.replace(organizations, id, stored, { ...stored.record, deletedAt }).set(organizationRemovalKey(deletedAt + graceMs, id))
  }

  async #stored(principal: Principal, id: string): Promise<Stored<Organization>> {
    const stored = await this.#options.database.get(organizations, { organizationId: id }, id)
    const isTeam = stored?.record.ownerId === principal.organizationId && reachOf(principal, 'teams.read') === 'all'
    if (!stored || !(id === principal.organizationId || isTeam) || stored.record.deletedAt !== undefined)
      throw new Refusal('not_found', 'No organization has this id.')
    return stored
  }
}

async function isFirst(database: Database, organizationId: string): Promise<boolean> {
  for await (const { id } of allOrganizations(database)) return id === organizationId
  return false
}
