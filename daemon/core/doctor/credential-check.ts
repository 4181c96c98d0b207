/** Reports keys and SMTP logins that expire while they are in use. Reads only the store. */
import type { Database } from '#store/database.ts'
import { apiKeys } from '../access/keys/api-key.ts'
import { keyUses } from '../access/keys/key-uses.ts'
import type { SmtpCredential } from '../access/smtp-credential.ts'
import type { Core } from '../core.ts'
import { observed, type Observed } from '../findings/finding.ts'
import { livingOrganizations } from '../tenancy/organization-list.ts'
import type { Check, Found } from './check.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const weekMs = 7 * dayMs
/** Credentials with a shorter life expire on purpose. */
const minLifeMs = 14 * dayMs

export interface Expiring {
  readonly id: string
  readonly name: string
  readonly what: 'key' | 'login'
  /** Empty for a key of the organization. */
  readonly projectId: string
  readonly expiresAt: number
}

export const credentialFindings = (expiring: readonly Expiring[], lastUse: ReadonlyMap<string, number>, now: number): Observed[] =>
  expiring
    .filter(({ id }) => now - (lastUse.get(id) ?? -Infinity) <= weekMs)
    .map(({ id, name, what, projectId, expiresAt }) =>
      observed('credential.expiring', id, { name, what, days: Math.ceil((expiresAt - now) / dayMs) }, projectId),
    )

export const credentialCheck = ({ database, policies, clock }: Pick<Core, 'database' | 'policies' | 'clock'>): Check => ({
  name: 'watch.hourly', // the name in stored findings
  everyMs: hourMs,
  place: 'one',
  async look({ signal }) {
    const found: Found[] = []
    for await (const { id: organizationId } of livingOrganizations(database)) {
      if (signal.aborted) break
      const now = clock.now()
      const { credentials } = await policies.of(organizationId)
      const expiring = await readExpiring(database, organizationId, credentials.values(), now)
      if (expiring.length === 0) continue
      const uses = await database.getMany(keyUses, { organizationId }, expiring.map(({ id }) => id)) // prettier-ignore
      const lastUse = new Map(uses.flatMap((use) => (use ? [[use.record.id, use.record.usedAt] as const] : [])))
      found.push(...credentialFindings(expiring, lastUse, now).map((one) => ({ ...one, organizationId })))
    }
    return { found }
  },
})

/** Returns the keys and logins that end within seven days. */
async function readExpiring(
  database: Database,
  organizationId: string,
  logins: Iterable<SmtpCredential>,
  now: number,
): Promise<readonly Expiring[]> {
  const keys = (await database.all(apiKeys, { organizationId })).filter(({ record }) => record.revokedAt === null)
  const all = [
    ...keys.map(({ record }) => ({ ...record, what: 'key' as const, projectId: record.projectId ?? '' })),
    ...[...logins].map((one) => ({ ...one, name: one.label, what: 'login' as const })),
  ]
  return all.flatMap(({ id, name, what, projectId, createdAt, expiresAt }) => {
    const isSoon = expiresAt !== null && expiresAt > now && expiresAt - now <= weekMs && expiresAt - createdAt >= minLifeMs
    return isSoon ? [{ id, name, what, projectId, expiresAt }] : []
  })
}
