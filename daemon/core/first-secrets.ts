/** Secrets created by the first start, sealed, so that later starts can show them until the organization has an owner. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import * as z from 'zod'
import { apiKeys } from './access/keys/api-key.ts'
import { hashApiKey } from './access/keys/key-proof.ts'
import { statusOf } from './access/keys/api-keys.ts'
import type { SecretBox } from './access/secret-box.ts'
import { smtpCredentials } from './access/smtp-credential.ts'

/** Login for a CMS. The password is not stored in plaintext anywhere else. */
export interface FirstSmtpLogin {
  readonly username: string
  readonly password: string
}

/** Undefined: not created, or no longer valid. */
export interface FirstSecrets {
  readonly apiKey: string | undefined
  readonly smtpLogin: FirstSmtpLogin | undefined
}

const schema = z.strictObject({ id: z.string(), sealedSecrets: z.string() })
type SealedRecord = Immutable<z.infer<typeof schema>>
type StoredSecrets = Stored<SealedRecord>

/** One record for the first organization; deleted once it has an owner. */
export const firstSecrets = defineRecord<SealedRecord>({ name: 'first_secrets', schema })

const id = 'first'
const sealContext = `first_secrets/${id}/secrets`
const contents = z.object({
  apiKey: z.string().optional(),
  smtpLogin: z.object({ username: z.string(), password: z.string() }).optional(),
})

/** Stores the new secrets in the same write. */
export function keepFirstSecrets(
  change: Change,
  secrets: SecretBox,
  organizationId: string,
  { stored, made }: { readonly stored: StoredSecrets | undefined; readonly made: FirstSecrets },
): void {
  const record = { id, sealedSecrets: secrets.seal(JSON.stringify(made), sealContext) }
  if (stored) change.replace(firstSecrets, organizationId, stored, record)
  else change.insert(firstSecrets, organizationId, record)
}

export const storedFirstSecrets = (database: Database, organizationId: string): Promise<StoredSecrets | undefined> =>
  database.get(firstSecrets, { organizationId }, id)

/** Returns the secrets that still work, without revoked keys and rotated or revoked logins. */
export async function openFirstSecrets(database: Database, secrets: SecretBox, sealed: string, now: number): Promise<FirstSecrets> {
  const text = secrets.open(sealed, sealContext)
  const { apiKey, smtpLogin } = text === undefined ? {} : contents.parse(JSON.parse(text))
  return {
    apiKey: apiKey !== undefined && (await isActiveKey(database, apiKey, now)) ? apiKey : undefined,
    smtpLogin: smtpLogin && (await isActiveLogin(database, smtpLogin.username, now)) ? smtpLogin : undefined,
  }
}

async function isActiveKey(database: Database, key: string, now: number): Promise<boolean> {
  const stored = await database.lookup(apiKeys, 'sha256', [hashApiKey(key)])
  return stored !== undefined && statusOf(stored.record, now) === 'active'
}

async function isActiveLogin(database: Database, username: string, now: number): Promise<boolean> {
  const stored = await database.lookup(smtpCredentials, 'username', [username])
  return stored !== undefined && (stored.record.expiresAt ?? Infinity) > now
}
