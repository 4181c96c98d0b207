/** First start: creates an organization with its project Default, the project's catch-all inbox, an API key and an SMTP login. */
import { plans, type PlanName } from '#config/plans/plans.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, unpack } from '#store/tuple.ts'
import { apiKeys, previewApiKey, type ApiKey } from './access/keys/api-key.ts'
import { hashApiKey } from './access/keys/key-proof.ts'
import { environmentKeyId, isAdministrator, newApiKey, statusOf } from './access/keys/api-keys.ts'
import type { SecretBox } from './access/secret-box.ts'
import { smtpCredentials } from './access/smtp-credential.ts'
import { newSmtpCredential } from './access/smtp-credentials.ts'
import type { Clock } from './clock.ts'
import {
  firstSecrets,
  keepFirstSecrets,
  openFirstSecrets,
  storedFirstSecrets,
  type FirstSecrets,
  type FirstSmtpLogin,
} from './first-secrets.ts'
import { addOrganization } from './beginnings/new-organization.ts'
import { placeholderName } from './tenancy/organization.ts'
import { addFirstLink } from './people/sign-in/login-link.ts'
import { hasOwner } from './people/members/members.ts'
import { heldBy } from './plan/by-project.ts'
import { recordPeakUsage } from './plan/peak-usage.ts'

export interface BootstrapOptions {
  readonly database: Database
  readonly clock: Clock
  readonly secrets: SecretBox
  /** `POSTERN_ADMIN_KEY`: valid after every start. A changed key replaces the previous one. */
  readonly adminKey: string | null | undefined
  /** Plan of the created organization. */
  readonly plan: PlanName
}

/** Working secrets to show at every start, until the organization has an owner. */
export interface Bootstrapped extends FirstSecrets {
  readonly organizationId: string
  /** Secret of a new sign-in link for the owner; undefined once the organization has an owner. */
  readonly ownerLink: string | undefined
}

/** The first organization sorts first, because ids grow with time. */
const firstOrganizationKey = pack(['org_'])
const organizationsEnd = pack(['org`'])

/** Creates missing records in one write. Safe to repeat; must run before the service accepts requests. */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrapped> {
  const { database, clock, adminKey, plan } = options
  const change = new Change()
  const existing = await firstOrganization(database)
  const made = existing === undefined ? addFirstOrganization(database, change, clock.now(), plan) : undefined
  const organizationId = made?.organizationId ?? existing ?? ''
  const apiKey = await addKey(database, change, organizationId, clock.now(), adminKey ?? undefined)
  const smtpLogin = made && apiKey !== undefined ? await addSmtpLogin(options, change, made) : undefined
  const isOwned = !made && (await hasOwner(database, organizationId))
  const ownerLink = isOwned ? undefined : addFirstLink(change, organizationId, clock.now())
  const shown = await keepOrForget(options, change, organizationId, { made: { apiKey, smtpLogin }, isOwned })
  if ((change.sets.length > 0 || change.deletes.length > 0) && !(await database.commit(change)).ok)
    throw new Error('Another process created the first organization at the same time; start again.')
  return { organizationId, ...shown, ownerLink }
}

/** Returns the new secrets, and the sealed secrets of earlier starts, which are stored until the organization has an owner. */
async function keepOrForget(
  { database, clock, secrets }: BootstrapOptions,
  change: Change,
  organizationId: string,
  { made, isOwned }: { readonly made: FirstSecrets; readonly isOwned: boolean },
): Promise<FirstSecrets> {
  const stored = await storedFirstSecrets(database, organizationId)
  if (isOwned) {
    if (stored) change.remove(firstSecrets, organizationId, stored)
    return made
  }
  const before = stored && (await openFirstSecrets(database, secrets, stored.record.sealedSecrets, clock.now()))
  const shown = { apiKey: made.apiKey ?? before?.apiKey, smtpLogin: made.smtpLogin ?? before?.smtpLogin }
  if (made.apiKey !== undefined || made.smtpLogin !== undefined) {
    keepFirstSecrets(change, secrets, organizationId, { stored, made: shown })
  }
  return shown
}

async function firstOrganization(database: Database): Promise<string | undefined> {
  for await (const { key } of database.kv.range({ start: firstOrganizationKey, end: organizationsEnd, limit: 1 }))
    return String(unpack(key)[0])
  return undefined
}

interface FirstOrganization {
  readonly organizationId: string
  readonly projectId: string
}

const addFirstOrganization = (database: Database, change: Change, now: number, plan: PlanName): FirstOrganization =>
  addOrganization(database, change, { name: placeholderName, plan, project: { name: 'Default', status: 'claimed' }, now })

async function addSmtpLogin(
  { database, clock, secrets, plan }: BootstrapOptions,
  change: Change,
  { organizationId, projectId }: FirstOrganization,
): Promise<FirstSmtpLogin | undefined> {
  if (plans[plan].smtpCredentials === 0) return undefined
  const now = clock.now()
  const { record, password } = newSmtpCredential(database, secrets, { label: 'First login', projectId, now })
  change.insert(smtpCredentials, organizationId, record)
  await recordPeakUsage({ database, change, organizationId }, 'smtp_credentials', { before: heldBy([]), after: heldBy([record]) }, now)
  return { username: record.username, password }
}

/** Returns a new API key if no administrator key exists. */
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
  change.insert(apiKeys, organizationId, administrator(database.newId('key', now), 'First key', key, now))
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
    throw new Error('POSTERN_ADMIN_KEY is a key of this service that no longer has administrator access; choose another key.')
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
