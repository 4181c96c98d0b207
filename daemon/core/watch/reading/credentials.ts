/** API keys and SMTP credentials that expire soon, and their last uses. */
import type { Database } from '#store/database.ts'
import { apiKeys } from '../../access/keys/api-key.ts'
import { keyUses } from '../../access/keys/key-uses.ts'
import type { SmtpCredential } from '../../access/smtp-credential.ts'
import { expiringSoon, type Expiring } from '../conditions/credentials.ts'

/** Reads all keys of the organization, and the uses of keys that expire. */
export async function readExpiring(
  database: Database,
  organizationId: string,
  logins: Iterable<SmtpCredential>,
  now: number,
): Promise<{ readonly expiring: ReturnType<typeof expiringSoon>; readonly lastUse: ReadonlyMap<string, number> }> {
  const keys = (await database.all(apiKeys, { organizationId })).filter(({ record }) => record.revokedAt === null)
  const all: Expiring[] = [
    ...keys.map(({ record }) => ({ ...record, what: 'key' as const, projectId: record.projectId ?? '' })),
    ...[...logins].map((one) => ({ ...one, name: one.label, what: 'login' as const })),
  ]
  const expiring = expiringSoon(all, now)
  const uses = await database.getMany(keyUses, { organizationId }, expiring.map(({ id }) => id)) // prettier-ignore
  return { expiring, lastUse: new Map(uses.flatMap((use) => (use ? [[use.record.id, use.record.usedAt] as const] : []))) }
}
