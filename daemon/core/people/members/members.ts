/** Members of an organization: their current permissions, and changes that always leave at least one owner. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { ApiKey } from '../../access/keys/api-key.ts'
import { endKeys, keptKey, keysFollowing, type KeyFates, type KeysToKeep } from '../../access/keys/dependent-keys.ts'
import type { KeyCreator } from '../../access/principal/key-creator.ts'
import { reachOf, requireAdministration, requireReach } from '../../access/principal/organization-acts.ts'
import { requireScope, type Principal } from '../../access/principal/principal.ts'
import { actorOf } from '../../writes/audit.ts'
import { endGrantsOf } from '../../oauth/grants/grant.ts'
import { Refusal } from '../../refusals.ts'
import { organizations, type Organization } from '../../tenancy/organization.ts'
import { members, membershipsOf, type Member } from './member.ts'
import { scopesOfRole, type Role, type RoleScopes } from '../../access/principal/role.ts'
import { passkeys } from '../sign-in/passkey.ts'
import { userById, type User } from '../users/user.ts'
import { RecentMap } from '../../recent-map.ts'

/** Sends mail to members about changes of their membership. */
export interface MemberNotices {
  roleChanged(user: User, organization: Organization, role: Role): void
  removed(user: User, organization: Organization): void
}

export interface MemberOptions extends Core {
  readonly notices: MemberNotices
}

/** A member as other members see them. */
export interface Person {
  readonly member: Member
  readonly user: User
  /** The user has at least one passkey. */
  readonly hasPasskey: boolean
}

/** A membership with its organization. */
export interface Membership {
  readonly organization: Organization
  readonly member: Member
}

interface CachedRole {
  readonly generation: number
  readonly role: Role | undefined
}

const maxCached = 10_000

export class Members {
  readonly #options: MemberOptions
  readonly #known = new RecentMap<string, CachedRole>(maxCached)

  constructor(options: MemberOptions) {
    this.#options = options
  }

  /** Returns the current permissions of the user's role, from memory. Returns undefined if the user is not a member. */
  readonly scopesOfMember = async (organizationId: string, userId: string): Promise<(RoleScopes & { readonly role: Role }) | undefined> => {
    const role = await this.#roleOf(organizationId, userId)
    return role && { role, ...scopesOfRole(role) }
  }

  /** Returns the principal of a signed-in user. Throws the same `not_found` for missing organizations and for organizations of others. */
  async principalOf(userId: string, organizationId: string): Promise<Principal> {
    const permissions = await this.scopesOfMember(organizationId, userId)
    const settings = permissions && (await this.#options.policies.of(organizationId))
    if (!permissions || !settings || settings.organization.deletedAt !== undefined)
      throw new Refusal('not_found', 'You are not a member of an organization with this id.')
    const { organization, deleted } = settings
    return {
      organizationId,
      projectId: organization.defaultProjectId,
      bound: false,
      ...(deleted.size > 0 && { hiddenProjects: deleted }),
      scopes: permissions.scopes,
      credentialId: userId,
      holder: { kind: 'user', userId },
      ...(!permissions.administersOrganization && { projectsOnly: true as const }),
      ...(permissions.owns && { owns: true as const }),
      ...(permissions.seesBilling && permissions.scopes.length === 0 && { billsOnly: true as const }),
    }
  }

  /** Returns every organization of the user. */
  async organizationsOf(userId: string): Promise<Membership[]> {
    const { database } = this.#options
    const mine = await membershipsOf(database, userId)
    const found = await Promise.all(mine.map(({ organizationId }) => database.get(organizations, { organizationId }, organizationId)))
    return mine.flatMap((member, i) =>
      found[i] && found[i].record.deletedAt === undefined ? [{ member, organization: found[i].record }] : [],
    )
  }

  /** Returns all members, in the order of their user ids. */
  async list(principal: Principal): Promise<Person[]> {
    requireScope(principal, 'api:read')
    requireReach(principal, 'members.read')
    const { database } = this.#options
    const rows = await database.all(members, { organizationId: principal.organizationId }, 'shown')
    const found = await Promise.all(rows.map(({ record }) => personOf(database, record)))
    return found.flatMap((person) => person ?? [])
  }

  /**
   * Changes a member's role. Only owners grant or withdraw the role owner, and one owner must remain. Throws `not_found`, `conflict` and
   * `insufficient_scope`.
   */
  async changeRole(principal: Principal, userId: string, role: Role): Promise<Person> {
    return this.#change(principal, userId, async (change, { stored, owns }) => {
      const before = stored.record.role
      if (before === role) return stored.record
      if ((before === 'owner' || role === 'owner') && !owns) throw ownersOnly()
      if (before === 'owner') await this.#keepAnOwner(principal.organizationId, userId)
      const member: Member = { ...stored.record, role }
      change.replace(members, principal.organizationId, stored, member)
      this.#record(change, principal, 'member.role_changed', userId, { before, role })
      return member
    })
  }

  /**
   * Removes a member; every member can remove themselves. Grants of the member end, and so do keys that the member or their applications
   * created. An administrator can keep keys. Throws like `changeRole`, and `validation_failed` if `toKeep` has a key that would not end.
   */
  async remove(principal: Principal, userId: string, toKeep: KeysToKeep = []): Promise<KeyFates> {
    const leaves = !principal.bound && principal.holder?.kind === 'user' && principal.holder.userId === userId
    const { database, writes, clock, audit, notices } = this.#options
    const { organizationId } = principal
    const gone = await writes.run(organizationId, async (change) => {
      if (!leaves || toKeep.length > 0) requireAdministration(principal, 'members.change')
      const stored = await this.#get(principal, userId)
      const { role } = stored.record
      if (role === 'owner' && !leaves && !(await this.#owns(principal))) throw ownersOnly()
      if (role === 'owner') await this.#keepAnOwner(organizationId, userId)
      change.remove(members, organizationId, stored)
      const now = clock.now()
      await endGrantsOf(database, change, organizationId, userId, now)
      const act = leaves ? 'member.left' : 'member.removed'
      const ending = { ...{ audit, change, organizationId, now }, actor: actorOf(principal), reason: act }
      const keys = endKeys(ending, await this.#keysOf(principal, userId), toKeep, (key) => keptKey(key, role, now))
      this.#record(change, principal, act, userId, { role })
      return { user: await userById(database, userId), organization: await this.#organization(principal), keys }
    })
    if (!leaves && gone.user) notices.removed(gone.user, gone.organization)
    return gone.keys
  }

  /**
   * Returns the keys that end when a member is removed, by user id, newest first. Callers who cannot read members get only their own keys.
   */
  async endingKeys(principal: Principal): Promise<Map<string, ApiKey[]>> {
    const { database, clock } = this.#options
    const own = principal.holder?.kind === 'user' ? principal.holder.userId : undefined
    const seesOthers = reachOf(principal, 'members.read') !== 'none'
    const isShown = ({ userId }: KeyCreator): boolean => seesOthers || userId === own
    const keys = await keysFollowing(database, principal.organizationId, isShown, clock.now())
    return Map.groupBy(
      keys.map(({ record }) => record),
      ({ minter }) => minter?.userId ?? '',
    )
  }

  #keysOf({ organizationId }: Principal, userId: string): Promise<Stored<ApiKey>[]> {
    const { database, clock } = this.#options
    return keysFollowing(database, organizationId, (minter) => minter.userId === userId, clock.now())
  }

  /** Makes the member an owner and the requesting owner an administrator, in one write. */
  async transferOwnership(principal: Principal, userId: string): Promise<Person> {
    const from = principal.holder?.kind === 'user' ? principal.holder.userId : undefined
    if (from === undefined) throw ownersOnly()
    if (from === userId) throw new Refusal('conflict', 'You are already an owner; choose another member.')
    return this.#change(principal, userId, async (change, { stored, owns }) => {
      if (!owns) throw ownersOnly()
      const mine = await this.#get(principal, from)
      change.replace(members, principal.organizationId, mine, { ...mine.record, role: 'admin' as const })
      const member = { ...stored.record, role: 'owner' as const }
      if (stored.record.role !== 'owner') change.replace(members, principal.organizationId, stored, member)
      this.#record(change, principal, 'organization.ownership_transferred', userId, { from })
      return member
    })
  }

  async #change(
    principal: Principal,
    userId: string,
    decide: (change: Change, known: { readonly stored: Stored<Member>; readonly owns: boolean }) => Promise<Member>,
  ): Promise<Person> {
    requireAdministration(principal, 'members.change')
    const { writes, database, notices } = this.#options
    const result = await writes.run(principal.organizationId, async (change) => {
      const stored = await this.#get(principal, userId)
      return { before: stored.record, after: await decide(change, { stored, owns: await this.#owns(principal) }) }
    })
    const person = await personOf(database, result.after)
    if (!person) throw new Error(`the user ${userId} of a member is missing`)
    if (result.before.role !== result.after.role) notices.roleChanged(person.user, await this.#organization(principal), result.after.role)
    return person
  }

  /**
   * Returns whether the caller is a signed-in owner. A key has at most the permissions of an administrator and cannot grant or withdraw the
   * role owner.
   */
  async #owns({ organizationId, holder }: Principal): Promise<boolean> {
    if (holder?.kind !== 'user') return false
    return (await this.scopesOfMember(organizationId, holder.userId))?.owns ?? false
  }

  async #keepAnOwner(organizationId: string, userId: string): Promise<void> {
    if (await hasOwner(this.#options.database, organizationId, userId)) return
    throw new Refusal('conflict', 'An organization needs an owner; make another member an owner first.')
  }

  async #get({ organizationId }: Principal, userId: string): Promise<Stored<Member>> {
    const stored = await this.#options.database.get(members, { organizationId }, userId)
    if (!stored) throw new Refusal('not_found', 'No member has this id.')
    return stored
  }

  async #organization({ organizationId }: Principal): Promise<Organization> {
    const stored = await this.#options.database.get(organizations, { organizationId }, organizationId)
    if (!stored) throw new Error(`organization ${organizationId} is missing`)
    return stored.record
  }

  #record(change: Change, principal: Principal, act: string, target: string, details: Readonly<Record<string, unknown>>): void {
    this.#options.audit.record(change, { organizationId: principal.organizationId, actor: actorOf(principal), act, target, details })
  }

  async #roleOf(organizationId: string, userId: string): Promise<Role | undefined> {
    const { database } = this.#options
    const name = `${organizationId}/${userId}`
    const generation = database.generation(organizationId) // fetched before the record, so that a later change is noticed
    const kept = this.#known.get(name)
    if (kept?.generation === generation) return kept.role
    const stored = await database.get(members, { organizationId }, userId)
    this.#known.set(name, { generation, role: stored?.record.role })
    return stored?.record.role
  }
}

/** Returns whether the organization has an owner other than `except`. */
export async function hasOwner(database: Database, organizationId: string, except?: string): Promise<boolean> {
  const all = await database.all(members, { organizationId })
  return all.some(({ record }) => record.role === 'owner' && record.id !== except)
}

const ownersOnly = (): Refusal => new Refusal('insufficient_scope', 'Only a signed-in owner can grant or withdraw the role owner.')

async function personOf(database: Database, member: Member): Promise<Person | undefined> {
  const user = await userById(database, member.id)
  if (!user) return undefined
  const { rows } = await database.list(passkeys, { organizationId: user.id }, { limit: 1, forWork: true })
  return { member, user, hasPasskey: rows.length > 0 }
}
