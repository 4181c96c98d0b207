/** Creates, reads, changes, rotates and revokes API keys, and authenticates a presented key. */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { apiKeyPattern, apiKeyPrefix, apiKeys, previewApiKey, type ApiKey } from './api-key.ts'
import { hashApiKey } from './key-proof.ts'
import { noticesIn, noticesOfKey, type GivenNotices } from '../notice-settings.ts'
import { noticesToday, type NoticesOfDay } from '../../tenancy/notice-counters.ts'
import { KeyUses } from './key-uses.ts'
import { listReachable, type List, type OfProject, type PageQuery, sieve } from '../principal/lists.ts'
import type { ScopesOfMember } from '../principal/member-scopes.ts'
import { keptKey } from './dependent-keys.ts'
import { ceilingOf, endsAlongWith, endsAtProjects, followsCreator, scopesUnder, type KeyCreator } from '../principal/key-creator.ts'
import { reachableProject } from '../principal/project-choice.ts'
import type { Role } from '../principal/role.ts'
import { requireAdministration } from '../principal/organization-acts.ts'
import { administersAll, requireScope, type Scope, type Principal, type UserHolder } from '../principal/principal.ts'
import { RecentMap } from '../../recent-map.ts'

export interface ApiKeyOptions extends Core {
  readonly scopesOfMember: ScopesOfMember
  /** Returns whether the OAuth grant exists and has not been revoked. */
  readonly grantStands: (organizationId: string, grantId: string) => Promise<boolean>
}

export interface NewApiKey extends GivenNotices {
  readonly name: string
  /** Empty for a send-only key. */
  readonly scopes: readonly Scope[]
  /** The key can only send, for one project; the default is the requester's project. */
  readonly sendOnly?: boolean | undefined
  /** Binds the key to one project. */
  readonly projectId?: string | undefined
  /** Milliseconds since the epoch. Default: the requester's expiry; none for administrators of the whole organization. */
  readonly expiresAt?: number | undefined
}

/** A key with its secret. */
export interface NewKey {
  readonly record: ApiKey
  readonly key: string
}

/** Omitted fields keep their values. */
export interface ApiKeyChanges extends GivenNotices {
  readonly name?: string | undefined
  /** Milliseconds since the epoch; null for a key that does not expire. */
  readonly expiresAt?: number | null | undefined
  /** The key remains valid after its creator is removed. */
  readonly kept?: true | undefined
}

/** A key with its ceiling, last use and notices, as the API returns it. */
export interface ShownKey {
  readonly record: ApiKey
  /** The role that limits the key now; see `ceilingOf`. */
  readonly ceiling: Role | 'none' | 'ended'
  /** See `KeyUses`. */
  readonly usedAt: number | null
  /** Failure notices about the mail of this key today. */
  readonly noticesToday: NoticesOfDay
}

/** Returned only by creation and rotation; the service cannot show the key later. */
export type KeyWithSecret = ShownKey & NewKey

export interface ApiKeyFilter extends OfProject {
  /** Id of a user. Selects the keys that follow this user and end when the user is removed. */
  readonly mintedBy?: string | undefined
}

interface CachedKey {
  readonly generation: number
  readonly organizationId: string
  readonly record: ApiKey
  readonly principal: Principal
}

/** The id of the key that the operator sets as `POSTERN_ADMIN_KEY`. */
export const environmentKeyId = 'key_environment'
const maxCached = 10_000

/** Returns a new key with 32 random bytes. */
export const newApiKey = (): string => apiKeyPrefix + randomBytes(32).toString('base64url')

/** Returns a new key with its record; the caller stores the record. */
export function newKeyRecord(
  database: Database,
  facts: Omit<ApiKey, 'id' | 'sha256' | 'preview' | 'createdAt' | 'revokedAt'>,
  now: number,
): NewKey {
  const key = newApiKey()
  const record = {
    id: database.newId('key', now),
    ...facts,
    sha256: hashApiKey(key),
    preview: previewApiKey(key),
    createdAt: now,
    revokedAt: null,
  }
  return { record, key }
}

/** The member and the key that authorized the creation of a key. */
type Origin = Pick<ApiKey, 'minter' | 'keptAt' | 'mintedWith'>

/** Current authority of the principal that creates or changes a key. */
interface KeyOrigin {
  readonly origin: Origin
  /** Expiry of the principal's key. Infinity for a key without expiry, and for a principal without a key. */
  readonly endMs: number
}

export type ApiKeyStatus = 'active' | 'expired' | 'revoked'

export function statusOf({ revokedAt, expiresAt }: ApiKey, nowMs: number): ApiKeyStatus {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= nowMs ? 'expired' : 'active'
}

/**
 * Whether the key is active, belongs to the whole organization and has every scope. Without such a key, no further key could be created.
 * Keys that follow a member do not count.
 */
export const isAdministrator = (key: ApiKey, nowMs: number): boolean =>
  statusOf(key, nowMs) === 'active' && key.projectId === null && key.scopes.includes('api:admin') && !followsCreator(key)

export class ApiKeys implements List<ApiKeyFilter, ShownKey> {
  readonly #options: ApiKeyOptions
  readonly #cached = new RecentMap<string, CachedKey>(maxCached)
  readonly #uses: KeyUses

  constructor(options: ApiKeyOptions) {
    this.#options = options
    this.#uses = new KeyUses(options)
  }

  /**
   * Creates a key with at most the scopes of the principal. A principal bound to a project creates keys for that project only. Keys that a
   * member creates follow that member, also through an application or another key. Only administrators of the whole organization create a
   * key that outlasts the creating key.
   */
  async create(principal: Principal, request: NewApiKey): Promise<KeyWithSecret> {
    for (const scope of request.sendOnly ? (['api:send'] as const) : request.scopes) requireScope(principal, scope)
    if (principal.projectsOnly && !principal.bound && request.projectId === undefined && !request.sendOnly)
      throw invalid([{ path: 'project_id', message: 'is required: your role can create keys of one project only' }])
    const { database, policies, clock, writes } = this.#options
    const now = clock.now()
    if (request.expiresAt !== undefined) requireFuture(request.expiresAt, now)
    const created = await writes.runAudited(principal, 'api_key.minted', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const named = reachableProject(principal, projects, request.projectId, 'project_id')
      const { name, scopes, sendOnly } = request
      const { origin, endMs } = await this.#originOf(principal)
      const mostMs = administersAll(principal) ? Infinity : endMs
      const expiresAt = request.expiresAt ?? (mostMs === Infinity ? null : mostMs)
      requireEndWithin(mostMs, expiresAt)
      const fresh = newKeyRecord(
        database,
        {
          ...{ name, expiresAt, scopes: sendOnly ? [] : [...new Set(scopes)] },
          projectId: named ?? (sendOnly ? principal.projectId : null),
          ...(sendOnly && { sendOnly: true }),
          ...noticesOfKey(request, sendOnly),
          ...origin,
        },
        now,
      )
      change.insert(apiKeys, principal.organizationId, fresh.record)
      return fresh
    })
    return { ...created, ...(await this.#shown(principal, created.record)) }
  }

  /** Newest first, with revoked keys. A key bound to a project lists keys of that project only. A page can be short before the end. */
  async list(principal: Principal, { mintedBy, ...query }: PageQuery & ApiKeyFilter): Promise<Page<ShownKey>> {
    const isMeant = (key: ApiKey): boolean =>
      (!principal.projectsOnly || key.projectId !== null) &&
      (mintedBy === undefined || (followsCreator(key) && key.minter?.userId === mintedBy))
    const { rows, nextCursor } = await listReachable(this.#options, apiKeys, principal, query, () => ({ sieve: sieve(isMeant) }))
    return { rows: await Promise.all(rows.map((key) => this.#shown(principal, key))), nextCursor }
  }

  /** Throws `not_found` for missing ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<ShownKey> {
    return this.#shown(principal, (await this.#get(principal, id)).record)
  }

  /**
   * Changes the given fields only. Only an administrator of the whole organization can keep a key, or postpone the expiry of a key that
   * outlasts the requester. Other requesters cannot set an expiry later than that of their own key. Throws `conflict` for a key that has
   * ended. Also throws `conflict` if the organization would lose its last administrator's key earlier.
   */
  async update(principal: Principal, id: string, { name, expiresAt, kept, ...notices }: ApiKeyChanges): Promise<ShownKey> {
    if (kept) requireAdministration(principal, 'keys.change')
    const { clock, writes } = this.#options
    const now = clock.now()
    if (typeof expiresAt === 'number') requireFuture(expiresAt, now)
    const record = await writes.runAudited(principal, 'api_key.updated', async (change) => {
      const stored = await this.#get(principal, id)
      requireActive(stored.record, now)
      const { record: before } = stored
      const until = expiresAt === undefined ? before.expiresAt : expiresAt
      const fresh = { ...before, name: name ?? before.name, expiresAt: until, ...noticesOfKey(notices, before.sendOnly) }
      if (endOf(fresh) > endOf(before)) {
        const { origin, endMs } = await this.#originOf(principal)
        if (!endsAlongWith(before, origin)) requireAdministration(principal, 'keys.change')
        if (!administersAll(principal)) requireEndWithin(endMs, fresh.expiresAt)
      }
      const isSooner = isAdministrator(before, now) && endOf(fresh) < endOf(before)
      if (isSooner && (await this.#othersAdministerUntil(principal, id, now)) < endOf(before))
        throw new Refusal(
          'conflict',
          'No other active key with api:admin for the whole organization has this expiry or a later one. Create such a key first.',
        )
      const after = kept && followsCreator(before) ? keptKey(fresh, await this.#roleOfCreator(principal, before), now) : fresh
      if (!isDeepStrictEqual(after, before)) change.replace(apiKeys, principal.organizationId, stored, after)
      return after
    })
    return this.#shown(principal, record)
  }

  /** Replaces the secret; the old one is rejected immediately. Refuses a key with more access or a longer life than the caller. */
  async rotate(principal: Principal, id: string): Promise<KeyWithSecret> {
    const { clock, writes } = this.#options
    const rotated = await writes.runAudited(principal, 'api_key.rotated', async (change) => {
      const stored = await this.#get(principal, id)
      for (const scope of stored.record.scopes) requireScope(principal, scope)
      if (principal.projectsOnly && !stored.record.sendOnly && !endsAtProjects(await this.#ceiling(principal, stored.record)))
        throw new Refusal('insufficient_scope', 'This key has more access than your role; ask an administrator to rotate it.')
      if (id === environmentKeyId)
        throw new Refusal('conflict', 'This key is set by POSTERN_ADMIN_KEY; change it there and restart, or create another key.')
      requireActive(stored.record, clock.now())
      const { origin, endMs } = await this.#originOf(principal)
      const outlasts = !endsAlongWith(stored.record, origin) || (endOf(stored.record) > endMs && !administersAll(principal))
      if (outlasts)
        throw new Refusal(
          'insufficient_scope',
          'This key would outlast your access; create your own key, or ask an administrator to rotate this one.',
        )
      const key = newApiKey()
      const record = { ...stored.record, sha256: hashApiKey(key), preview: previewApiKey(key) }
      change.replace(apiKeys, principal.organizationId, stored, record)
      return { record, key }
    })
    return { ...rotated, ...(await this.#shown(principal, rotated.record)) }
  }

  /** Revokes a key immediately; repeating the call has no effect. Refuses the last administrator's key of the organization. */
  async revoke(principal: Principal, id: string): Promise<ShownKey> {
    const record = await this.#options.writes.runAudited(principal, 'api_key.revoked', async (change) => {
      const stored = await this.#get(principal, id)
      if (stored.record.revokedAt !== null) return stored.record
      const now = this.#options.clock.now()
      if (isAdministrator(stored.record, now) && (await this.#othersAdministerUntil(principal, id, now)) === 0)
        throw new Refusal('conflict', 'This is the last active key with api:admin for the whole organization; create another one first.')
      return this.#end(change, principal, stored, now)
    })
    return this.#shown(principal, record)
  }

  /** Returns the principal of a presented key. Throws `unauthorized` with the same message for every key that does not work. */
  authenticate(token: string): Promise<Principal> {
    return apiKeyPattern.test(token) ? this.authenticateHash(hashApiKey(token)) : Promise.reject(refused())
  }

  /** Like `authenticate`, for a caller that proved knowledge of the key with this hash. */
  async authenticateHash(sha256: string): Promise<Principal> {
    const kept = this.#cached.get(sha256)
    const cached = kept && kept.generation === this.#options.database.generation(kept.organizationId) ? kept : await this.#look(sha256)
    if (!cached || statusOf(cached.record, this.#options.clock.now()) !== 'active') throw refused()
    this.#uses.note(cached.organizationId, cached.record)
    return cached.principal
  }

  async #look(sha256: string): Promise<CachedKey | undefined> {
    const { database, policies } = this.#options
    this.#cached.delete(sha256)
    const found = await database.lookup(apiKeys, 'sha256', [sha256])
    if (!found) return undefined
    const { organizationId } = found
    const generation = database.generation(organizationId) // fetched before the record, so that a later change is noticed
    const [stored, { organization, deleted }] = await Promise.all([
      database.get(apiKeys, { organizationId }, found.record.id),
      policies.of(organizationId),
    ])
    if (stored?.record.sha256 !== sha256) return undefined
    const { record } = stored
    if (organization.deletedAt !== undefined || deleted.has(record.projectId ?? '')) return undefined
    const ceiling = await this.#ceiling({ organizationId }, record)
    if (ceiling === 'ended') return undefined
    const { minter, keptAt } = record
    const principal: Principal = {
      organizationId,
      projectId: record.projectId ?? organization.defaultProjectId,
      bound: record.projectId !== null,
      ...(deleted.size > 0 && { hiddenProjects: deleted }),
      scopes: scopesUnder(ceiling, record.scopes),
      credentialId: record.id,
      ...(record.sendOnly &&
        scopesUnder(ceiling, ['api:send']).includes('api:send') && { sendsOnly: true as const, notices: noticesIn(record) }),
      ...(minter && ceiling !== 'none' && { minter: { ...minter, role: ceiling, ...(keptAt !== undefined && { keptAt }) } }),
      ...(endsAtProjects(ceiling) && { projectsOnly: true as const }),
    }
    const cached = { generation, organizationId, record, principal }
    this.#cached.set(sha256, cached)
    return cached
  }

  /**
   * Returns the current authority of the principal. It is checked within the write: a key or member that ended during the request must not
   * leave a new key. Throws `unauthorized` and `insufficient_scope`.
   */
  async #originOf({ organizationId, holder, credentialId }: Principal): Promise<KeyOrigin> {
    if (holder?.kind === 'user') return { origin: { minter: await this.#creatorOf(organizationId, holder) }, endMs: Infinity }
    const created = { mintedWith: credentialId }
    const stored = await this.#options.database.get(apiKeys, { organizationId }, credentialId)
    if (!stored) return { origin: created, endMs: Infinity } // the command line of this machine
    const { record } = stored
    const ceiling = await this.#ceiling({ organizationId }, record)
    if (statusOf(record, this.#options.clock.now()) !== 'active' || ceiling === 'ended') throw refused()
    const { minter, keptAt } = record
    const origin = {
      ...created,
      ...(minter && ceiling !== 'none' && { minter: { ...minter, role: ceiling } }),
      ...(keptAt !== undefined && { keptAt }),
    }
    return { origin, endMs: endOf(record) }
  }

  async #creatorOf(organizationId: string, { userId, application }: UserHolder): Promise<KeyCreator> {
    const { scopesOfMember, grantStands } = this.#options
    const member = await scopesOfMember(organizationId, userId)
    if (!member) throw new Refusal('insufficient_scope', 'You are no longer a member of this organization.')
    if (application && !(await grantStands(organizationId, application.grantId)))
      throw new Refusal('unauthorized', 'This application was revoked; its user must approve it again.')
    return { userId, role: member.role, application: application ?? null }
  }

  async #roleOfCreator({ organizationId }: Pick<Principal, 'organizationId'>, { minter }: ApiKey): Promise<Role | undefined> {
    return minter && (await this.#options.scopesOfMember(organizationId, minter.userId))?.role
  }

  async #ceiling(principal: Pick<Principal, 'organizationId'>, key: ApiKey): Promise<ShownKey['ceiling']> {
    return ceilingOf(key, followsCreator(key) ? await this.#roleOfCreator(principal, key) : undefined)
  }

  /** Adds ceiling, last use and notices to the record. */
  async #shown(principal: Principal, record: ApiKey): Promise<ShownKey> {
    const { organizationId } = principal
    const today = noticesToday(this.#options.database, { organizationId, submittedBy: record.id }, this.#options.clock.now())
    const [ceiling, usedAt] = await Promise.all([this.#ceiling(principal, record), this.#uses.last(organizationId, record.id)])
    return { record, ceiling, usedAt, noticesToday: await today }
  }

  async #get(principal: Principal, id: string): Promise<Stored<ApiKey>> {
    const stored = await this.#options.database.get(apiKeys, principal, id)
    if (!stored || (principal.projectsOnly && stored.record.projectId === null)) throw new Refusal('not_found', 'No API key has this id.')
    return stored
  }

  /** Returns the latest expiry among the other administrators' keys; 0 if there are no others. */
  async #othersAdministerUntil({ organizationId }: Principal, id: string, nowMs: number): Promise<number> {
    const all = await this.#options.database.all(apiKeys, { organizationId })
    return Math.max(0, ...all.flatMap(({ record }) => (record.id !== id && isAdministrator(record, nowMs) ? [endOf(record)] : [])))
  }

  #end(change: Change, { organizationId }: Principal, stored: Stored<ApiKey>, revokedAt: number): ApiKey {
    const record = { ...stored.record, revokedAt }
    change.replace(apiKeys, organizationId, stored, record)
    return record
  }
}

const endOf = ({ expiresAt }: ApiKey): number => expiresAt ?? Infinity

/** Throws `insufficient_scope` for an expiry later than that of the requester's key. */
function requireEndWithin(ownEndMs: number, expiresAt: number | null): void {
  if ((expiresAt ?? Infinity) <= ownEndMs) return
  const own = new Date(ownEndMs).toISOString()
  throw new Refusal(
    'insufficient_scope',
    `Your key expires at ${own}, and a key that it creates cannot expire later; ask an administrator of the organization.`,
  )
}

function requireFuture(expiresAt: number, now: number): void {
  if (expiresAt <= now) throw invalid([{ path: 'expires_at', message: 'must be in the future; use null for a key that does not expire' }])
}

function requireActive(key: ApiKey, now: number): void {
  const status = statusOf(key, now)
  if (status !== 'active') throw new Refusal('conflict', `This API key is ${status}; create a new one.`)
}

const refused = (): Refusal => new Refusal('unauthorized', 'This API key is unknown, expired or revoked; use an active one.')
