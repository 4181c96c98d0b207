/** API keys: minting, listing, rotating, revoking, and the check of a presented key. */
import { randomBytes } from 'node:crypto'
import type { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Clock } from '../clock.ts'
import { invalid, Refusal } from '../refusals.ts'
import type { SettingWrites } from '../setting-writes.ts'
import { apiKeyPattern, apiKeyPrefix, apiKeys, hashApiKey, previewApiKey, type ApiKey } from './api-key.ts'
import { reachableProject } from './project-choice.ts'
import { requireRight, type Right, type Scope } from './scope.ts'
import type { GrantSettingsSource } from './settings.ts'

export interface ApiKeyOptions {
  readonly database: Database
  readonly writes: SettingWrites
  readonly policies: GrantSettingsSource
  readonly clock: Clock
}

export interface NewApiKey {
  readonly name: string
  readonly scopes: readonly Right[]
  /** Binds the key to one project. */
  readonly projectId?: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
}

/** The only time that the key itself is shown. */
export interface MintedKey {
  readonly record: ApiKey
  readonly key: string
}

interface Known {
  readonly generation: number
  readonly organizationId: string
  readonly record: ApiKey
  readonly scope: Scope
}

/** The id of the key that the operator sets as `POSTERN_ADMIN_KEY`. */
export const environmentKeyId = 'key_environment'
const knownMax = 10_000

/** A new key: 32 random bytes. */
export const newApiKey = (): string => apiKeyPrefix + randomBytes(32).toString('base64url')

/** A key with its record, which is not stored yet. */
export function newKeyRecord(facts: Pick<ApiKey, 'name' | 'scopes' | 'projectId' | 'expiresAt'>, now: number): MintedKey {
  const key = newApiKey()
  const record = { id: newId('key', now), ...facts, sha256: hashApiKey(key), preview: previewApiKey(key), createdAt: now, revokedAt: null }
  return { record, key }
}

export type ApiKeyStatus = 'active' | 'expired' | 'revoked'

export function statusOf({ revokedAt, expiresAt }: ApiKey, nowMs: number): ApiKeyStatus {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= nowMs ? 'expired' : 'active'
}

/** Active, for the whole organization, with every right: without one of these nobody could make keys any more. */
export const isAdministrator = (key: ApiKey, nowMs: number): boolean =>
  statusOf(key, nowMs) === 'active' && key.projectId === null && key.scopes.includes('api:admin')

export class ApiKeys {
  readonly #options: ApiKeyOptions
  readonly #known = new Map<string, Known>()

  constructor(options: ApiKeyOptions) {
    this.#options = options
  }

  /** A key has at most the rights of the one it is minted with, and one bound to a project mints for that project only. */
  async mint(scope: Scope, request: NewApiKey): Promise<MintedKey> {
    for (const right of request.scopes) requireRight(scope, right)
    if (scope.projectsOnly && request.projectId === undefined)
      throw invalid([{ path: 'project_id', message: 'is required: your role makes keys of one project only' }])
    const { policies, clock, writes } = this.#options
    const now = clock.now()
    if (request.expiresAt !== undefined && request.expiresAt <= now)
      throw invalid([{ path: 'expires_at', message: 'must be in the future; leave it out for a key that does not expire' }])
    return writes.act(scope, 'api_key.minted', async (change) => {
      const { projects } = await policies.of(scope.organizationId)
      const projectId = reachableProject(scope, projects, request.projectId, 'project_id') ?? null
      const { name, scopes, expiresAt = null } = request
      const minted = newKeyRecord({ name, scopes: [...new Set(scopes)], projectId, expiresAt }, now)
      change.insert(apiKeys, scope.organizationId, minted.record)
      return minted
    })
  }

  /** Newest first, revoked ones among them. A key bound to a project sees those of its project only. */
  async list(
    scope: Scope,
    page: { readonly limit: number; readonly cursor?: string | undefined; readonly projectId?: string | undefined },
  ): Promise<Page<ApiKey>> {
    const { database, policies } = this.#options
    const { projects } = await policies.of(scope.organizationId)
    const projectId = reachableProject(scope, projects, page.projectId, 'project')
    const reach = projectId === undefined ? scope : { ...scope, projectId, bound: true }
    const { rows, nextCursor } = await database.list(apiKeys, reach, { limit: page.limit, cursor: page.cursor })
    return { rows: rows.map(({ record }) => record).filter(({ projectId }) => !scope.projectsOnly || projectId !== null), nextCursor }
  }

  /** A new secret under the same id; the old one stops working at once. */
  async rotate(scope: Scope, id: string): Promise<MintedKey> {
    const { clock, writes } = this.#options
    return writes.act(scope, 'api_key.rotated', async (change) => {
      const stored = await this.#get(scope, id)
      for (const right of stored.record.scopes) requireRight(scope, right)
      if (id === environmentKeyId)
        throw new Refusal('conflict', 'This key is set by POSTERN_ADMIN_KEY; change it there and restart, or mint another key.')
      const status = statusOf(stored.record, clock.now())
      if (status !== 'active') throw new Refusal('conflict', `This API key is ${status}; mint a new one.`)
      const key = newApiKey()
      const record = { ...stored.record, sha256: hashApiKey(key), preview: previewApiKey(key) }
      change.replace(apiKeys, scope.organizationId, stored, record)
      return { record, key }
    })
  }

  /** Ends a key at once; again does nothing. The last administrator's key of the organization cannot be revoked. */
  async revoke(scope: Scope, id: string): Promise<ApiKey> {
    return this.#options.writes.act(scope, 'api_key.revoked', async (change) => {
      const stored = await this.#get(scope, id)
      if (stored.record.revokedAt !== null) return stored.record
      const now = this.#options.clock.now()
      if (isAdministrator(stored.record, now) && (await this.#isLastAdministrator(scope, id, now)))
        throw new Refusal('conflict', 'This is the last active key with api:admin for the whole organization; mint another one first.')
      return this.#end(change, scope, stored, now)
    })
  }

  /** The scope of a presented key. Throws `unauthorized` with the same words for every key that does not work. */
  async authenticate(token: string): Promise<Scope> {
    if (!apiKeyPattern.test(token)) throw refused()
    const sha256 = hashApiKey(token)
    const kept = this.#known.get(sha256)
    const known = kept && kept.generation === this.#options.database.generation(kept.organizationId) ? kept : await this.#look(sha256)
    if (!known || statusOf(known.record, this.#options.clock.now()) !== 'active') throw refused()
    return known.scope
  }

  async #look(sha256: string): Promise<Known | undefined> {
    const { database, policies } = this.#options
    this.#known.delete(sha256)
    const found = await database.lookup(apiKeys, 'sha256', [sha256])
    if (!found) return undefined
    const { organizationId } = found
    const generation = database.generation(organizationId) // before the record is read, so that a later change is noticed
    const [stored, { organization, deleted }] = await Promise.all([
      database.get(apiKeys, { organizationId }, found.record.id),
      policies.of(organizationId),
    ])
    if (stored?.record.sha256 !== sha256) return undefined
    const { record } = stored
    if (organization.deletedAt !== undefined || deleted.has(record.projectId ?? '')) return undefined
    const scope: Scope = {
      organizationId,
      projectId: record.projectId ?? organization.defaultProjectId,
      bound: record.projectId !== null,
      ...(deleted.size > 0 && { without: deleted }),
      rights: record.scopes,
      grantId: record.id,
    }
    const known = { generation, organizationId, record, scope }
    this.#known.set(sha256, known)
    const oldest = this.#known.keys().next().value
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest)
    return known
  }

  async #get(scope: Scope, id: string): Promise<Stored<ApiKey>> {
    const stored = await this.#options.database.get(apiKeys, scope, id)
    if (!stored || (scope.projectsOnly && stored.record.projectId === null)) throw new Refusal('not_found', 'No API key has this id.')
    return stored
  }

  async #isLastAdministrator(scope: Scope, id: string, nowMs: number): Promise<boolean> {
    const all = await this.#options.database.all(apiKeys, { organizationId: scope.organizationId })
    return !all.some(({ record }) => record.id !== id && isAdministrator(record, nowMs))
  }

  #end(change: Change, { organizationId }: Scope, stored: Stored<ApiKey>, revokedAt: number): ApiKey {
    const record = { ...stored.record, revokedAt }
    change.replace(apiKeys, organizationId, stored, record)
    return record
  }
}

const refused = (): Refusal => new Refusal('unauthorized', 'This API key is unknown, expired or revoked; use a current one.')
