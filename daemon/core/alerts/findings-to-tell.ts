/** Reads the findings that a channel tells: of its organization, or for the operator of the service and of organizations. */
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { endedKey, findings, keptMs, type Finding } from '../findings/finding.ts'
import { isForOperator, openFindings } from '../findings/open-findings.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'

/** A stored finding with its organization. */
export interface FindingAt extends Stored<Finding> {
  readonly organizationId: string
}

/** Maximum number of open, and of ended findings that are examined. A channel gets further findings after some of these ended. */
const maxFindings = 5000
/** Messages report an end within this time. */
const rememberedMs = 2 * 86_400_000

export function findingsToTell(database: Database, organizationId: string, now: number): Promise<readonly FindingAt[]> {
  return organizationId === systemOrganizationId ? forOperator(database, now) : forOrganization(database, organizationId, now)
}

/** Marks of the members of an organization have no effect on the operator's alerts. */
export const asOperatorSees = (organizationId: string, finding: Finding): Finding =>
  organizationId === systemOrganizationId ? finding : { ...finding, acknowledged: null, mutedUntil: null }

async function forOrganization(database: Database, organizationId: string, now: number): Promise<readonly FindingAt[]> {
  const reach = { organizationId }
  const list = { limit: maxFindings, forWork: true } as const
  const open = await database.list(findings, reach, { ...list, index: 'listed', values: ['open'] })
  const isPast = ({ overAt }: Finding): boolean => (overAt ?? now) < now - rememberedMs
  const ended = await database.list(...([findings, reach, { ...list, index: 'ended' }] as const), {
    maxLooks: maxFindings,
    sort: (finding) => (isPast(finding) ? 'end' : 'take'),
  })
  return [...open.rows, ...ended.rows].map((stored) => ({ ...stored, organizationId }))
}

/** Reads the rows of open findings and of removals, because these are in order over all organizations. */
async function forOperator(database: Database, now: number): Promise<readonly FindingAt[]> {
  const open: Place[] = []
  for await (const row of openFindings(database)) {
    if (row.severity === 'notice' || open.length === maxFindings) break // the most severe are first
    if (isForOperator(row)) open.push(row)
  }
  const ended: Place[] = []
  const range = { start: pack(endedKey(now - rememberedMs + keptMs)), end: within(endedKey()).end, limit: maxFindings, reverse: true }
  for await (const { key } of database.kv.range(range)) {
    const [organizationId = '', id = ''] = unpack(key).slice(-2).map(String)
    ended.push({ organizationId, id })
  }
  const found = await Promise.all(
    [...Map.groupBy([...open, ...ended], ({ organizationId }) => organizationId)].map(async ([organizationId, rows]) => {
      const stored = await database.getMany(
        findings,
        { organizationId },
        rows.map(({ id }) => id),
      )
      return stored.flatMap((one) => (one ? [{ ...one, organizationId }] : []))
    }),
  )
  return found.flat().filter(({ organizationId, record: { kind } }) => isForOperator({ organizationId, kind }))
}

interface Place {
  readonly organizationId: string
  readonly id: string
}
