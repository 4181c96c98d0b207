/**
 * Organizations for their administrators: their own organization, and the team organizations that it created. A key belongs to one
 * organization, so a team organization starts with its own administrator key. Spec "Limits" 1 and 3.
 */
import type { Change } from '#store/change.ts'
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
  /** Called after an organization was deleted, to abort its attempts. */
  readonly onDeleted: (organizationId: string) => Promise<void>
  /** Adds to the write of the deletion, which ends alerts. */
  readonly onAlertsSwitched: (change: Change, organizationId: string) => Promise<void>
}

/** A new organization with its key, which the service cannot show later. */
export interface MadeOrganization {
  readonly organization: Organization
  readonly apiKey: string
}

export class Organizations implements List<unknown, Organization> {
  readonly #options: OrganizationOptions

  constructor(options: OrganizationOptions) {
    this.#options = options
  }

  /** Lists the caller's organization first, then its team organizations, oldest first. A key of one project sees only its organization. */
  async list(principal: Principal, query: PageQuery): Promise<Page<Organization>> {
    const { database, policies } = this.#options
    const { organization } = await policies.of(principal.organizationId)
    const all = [organization, ...(reachOf(principal, 'teams.read') === 'all' ? await teamOrganizations(database, organization.id) : [])]
    return pageOfLoaded(organizations, principal, all, query, { positionOf: ({ id }) => [id === organization.id ? 0 : 1, id] })
  }

  /** Throws the same `not_found` for missing, foreign and inaccessible ids. */
  async get(principal: Principal, id: string): Promise<Organization> {
    return (await this.#stored(principal, id)).record
  }

  /**
   * Creates a team organization on plan Free, with a project Default and an administrator key. A signed-in user who creates it becomes its
   * owner. Throws `quota_exhausted` if the plan's limit is reached, and `conflict` if the caller's organization is a team organization.
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
   * Deletes a team organization. Its keys and credentials stop working, and its mail is not sent. The operator can restore it for
   * `graceDays`; then its data is removed. A signed-in owner can also delete the own organization, like `removeOwn`; other callers get
   * `conflict`. Throws `conflict` while mail is queued, unless `discardQueued`.
   */
  async remove(principal: Principal, id: string, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    if (id === principal.organizationId && principal.owns) return this.removeOwn(principal, { discardQueued })
    requireReach(principal, 'teams.change')
    const { writes, onDeleted } = this.#options
    await writes.runAudited(principal, 'organization.deleted', async (change) => {
      const stored = await this.#stored(principal, id)
      if (id === principal.organizationId)
        throw new Refusal('conflict', 'Only a signed-in owner, or the organization that created it, can delete this organization.')
      await this.#end(change, stored, discardQueued)
    })
    await onDeleted(id)
  }

  /**
   * Deletes the organization of a signed-in owner in the same way. Throws `conflict` for the first organization, which the service itself
   * uses. Also throws `conflict` while team organizations exist or mail is queued.
   */
  async removeOwn(principal: Principal, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    if (!principal.owns) throw new Refusal('insufficient_scope', 'Only a signed-in owner can delete the organization.')
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
    const { database, policies, clock, onAlertsSwitched } = this.#options
    const { id } = stored.record
    const policy = await policies.of(id)
    const deletedAt = clock.now()
    const deletion = { database, change, nowMs: deletedAt, what: 'organization' } as const
    if (!discardQueued) await refuseWhileQueued(deletion, policy, new Set(policy.projects.keys()))
    change.replace(organizations, id, stored, { ...stored.record, deletedAt }).set(organizationRemovalKey(deletedAt + graceMs, id))
    await onAlertsSwitched(change, id)
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
