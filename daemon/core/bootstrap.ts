/** The first start: an organization with its project Default, the project's catch-all inbox, and a key to begin with. */
import type { PlanName } from '#config/plans.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, unpack } from '#store/tuple.ts'
import { apiKeys, hashApiKey, previewApiKey, type ApiKey } from './access/api-key.ts'
import { environmentKeyId, isAdministrator, newApiKey, statusOf } from './access/api-keys.ts'
import type { Clock } from './clock.ts'
import { addOrganization } from './new-organization.ts'
import { addFirstLink } from './people/login-link.ts'

export interface BootstrapOptions {
  readonly database: Database
  readonly clock: Clock
  /** `POSTERN_ADMIN_KEY`: valid after every start; another one takes the place of the one before. */
  readonly adminKey: string | null | undefined
  /** Plan of the organization that is made. */
  readonly plan: PlanName
}

export interface Bootstrapped {
  readonly organizationId: string
  /** Only when a key was made just now: to be shown once. */
  readonly apiKey: string | undefined
  /** Only when the organization was made just now: the secret of the link by which its owner signs in. */
  readonly ownerLink: string | undefined
}

/** The first organization lies before all others, because ids grow with time. */
const firstOrganizationKey = pack(['org_'])
const organizationsEnd = pack(['org`'])

/** Makes what is missing in one write. Safe to repeat; must run before anything is served. */
export async function bootstrap({ database, clock, adminKey, plan }: BootstrapOptions): Promise<Bootstrapped> {
  const change = new Change()
  const existing = await firstOrganization(database)
  const organizationId = existing ?? addFirstOrganization(change, clock.now(), plan)
  const ownerLink = existing === undefined ? addFirstLink(change, organizationId, clock.now()) : undefined
  const apiKey = await addKey(database, change, organizationId, clock.now(), adminKey ?? undefined)
  if (change.sets.length > 0 && !(await database.commit(change)).ok)
    throw new Error('The first organization was being made by another process at the same time; start again.')
  return { organizationId, apiKey, ownerLink }
}

async function firstOrganization(database: Database): Promise<string | undefined> {
  for await (const { key } of database.kv.range({ start: firstOrganizationKey, end: organizationsEnd, limit: 1 }))
    return String(unpack(key)[0])
  return undefined
}

const addFirstOrganization = (change: Change, now: number, plan: PlanName): string =>
  addOrganization(change, { name: 'Default', plan, project: { name: 'Default', status: 'claimed' }, now }).organizationId

/** Answers a key that was made because there is none to begin with. */
async function addKey(
  database: Database,
  change: Change,
  organizationId: string,
  now: number,
  adminKey: string | undefined,
): Promise<string | undefined> {
  const keys = await database.all(apiKeys, { organizationId })
  if (adminKey !== undefined) {
    await setEnvironmentKey(database, change, organizationId, keys, administrator(environmentKeyId, 'POSTERN_ADMIN_KEY', adminKey, now))
    return undefined
  }
  if (keys.some(({ record }) => isAdministrator(record, now))) return undefined
  const key = newApiKey()
  change.insert(apiKeys, organizationId, administrator(newId('key', now), 'First key', key, now))
  return key
}

async function setEnvironmentKey(
  database: Database,
  change: Change,
  organizationId: string,
  keys: readonly Stored<ApiKey>[],
  record: ApiKey,
): Promise<void> {
  const before = keys.find(({ record: { id } }) => id === environmentKeyId)
  const taken = await database.lookup(apiKeys, 'sha256', [record.sha256])
  if (taken && taken.record.id !== environmentKeyId) {
    if (taken.organizationId === organizationId && isAdministrator(taken.record, record.createdAt)) return
    throw new Error('POSTERN_ADMIN_KEY is a key that was minted here and is no administrator any more; choose another one.')
  }
  if (!before) change.insert(apiKeys, organizationId, record)
  else if (!taken || statusOf(before.record, record.createdAt) !== 'active') change.replace(apiKeys, organizationId, before, record)
}

const administrator = (id: string, name: string, key: string, now: number): ApiKey => ({
  id,
  name,
  sha256: hashApiKey(key),
  preview: previewApiKey(key),
  scopes: ['api:admin'],
  projectId: null,
  createdAt: now,
  expiresAt: null,
  revokedAt: null,
})
