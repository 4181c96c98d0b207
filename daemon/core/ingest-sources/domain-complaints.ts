/** Complaints that do not identify a message, stored by domain. They suppress no address. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

export interface DomainComplaints {
  readonly domain: string
  readonly complaints: number
  readonly lastAt: number
}

const keptMs = 30 * 86_400_000
/** Maximum number of domains per complaint. */
const maxDomains = 20
/** Maximum number of complaints counted per source. */
const maxCounted = 10_000

const complaintKey = ({ organizationId, sourceId }: SourceRef, ...rest: readonly string[]): readonly Element[] => [
  ...[organizationId, 'feedback.domain', sourceId],
  ...rest,
]

/** Records a complaint for each domain; `key` is equal for repetitions of a complaint. */
export function noteDomains(change: Change, source: SourceRef, domains: readonly string[], key: string, nowMs: number): void {
  for (const domain of domains.slice(0, maxDomains)) {
    const row = complaintKey(source, domain.slice(0, 255).toLowerCase(), key)
    change.set(row, encode(nowMs)).expire(nowMs + keptMs, row)
  }
}

/** Returns the complaints of the last 30 days by domain, most frequent first. */
export async function domainComplaints(database: Database, source: SourceRef): Promise<readonly DomainComplaints[]> {
  const found = new Map<string, DomainComplaints>()
  for await (const { key, value } of database.kv.range({ ...within(complaintKey(source)), limit: maxCounted, whole: true })) {
    const domain = String(unpack(key)[3])
    const before = found.get(domain)
    const at = decode<number>(value)
    found.set(domain, { domain, complaints: (before?.complaints ?? 0) + 1, lastAt: Math.max(at, before?.lastAt ?? at) })
  }
  return [...found.values()].toSorted((a, b) => b.complaints - a.complaints)
}
