/**
 * Reports of a source without a matching message: counts by day and type, and the texts of the latest bounces and complaints. Operators see
 * whether a source receives foreign mail, or whether their own mail is not matched.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

/** The displayed part of a report; the types are event types. */
export interface UnmatchedReport {
  readonly type: 'bounced' | 'deferred' | 'delivered' | 'complained'
  /** 64 hexadecimal digits, equal for repetitions of a report. */
  readonly key: string
  /** By the reporter's clock, in milliseconds since the epoch; null if the report has no time. */
  readonly occurredAt: number | null
  readonly recipient: string | null
  readonly messageId: string | null
  readonly status: string | null
  readonly diagnostic: string | null
}

/** A recent report with the time at the end of its retries. */
export type GivenUpReport = Omit<UnmatchedReport, 'key'> & { readonly at: number }

export type UnmatchedCounts = Readonly<Record<UnmatchedReport['type'], number>>

const types = ['delivered', 'deferred', 'bounced', 'complained'] as const satisfies readonly UnmatchedReport['type'][]
const dayMs = 86_400_000
const keptDays = 30
/** Number of slots for the latest reports. The key of a report determines its slot, so that a write needs no read. */
const slots = 20
const maxText = 500

const counterKey = ({ organizationId, sourceId }: SourceRef, type: UnmatchedReport['type'], day: number): readonly Element[] => [
  ...[organizationId, 'counter', 'unmatched', sourceId],
  ...[type, day],
]
const slotsKey = ({ organizationId, sourceId }: SourceRef, ...slot: readonly number[]): readonly Element[] => [
  ...[organizationId, 'ingest.unmatched', sourceId],
  ...slot,
]

/** Counts unmatched reports that are not retried. */
export function noteUnmatched(change: Change, source: SourceRef, reports: readonly UnmatchedReport[], nowMs: number): void {
  const day = Math.floor(nowMs / dayMs)
  for (const [type, { length }] of Map.groupBy(reports, (report) => report.type)) {
    const key = counterKey(source, type, day)
    change.add(key, length).expire((day + keptDays) * dayMs, key)
  }
  const relevant = reports.filter(({ type }) => type === 'bounced' || type === 'complained')
  const latest = new Map(relevant.map((report) => [Number.parseInt(report.key.slice(0, 8), 16) % slots, report]))
  for (const [slot, { type, occurredAt, recipient, messageId, status, diagnostic }] of latest) {
    const key = slotsKey(source, slot)
    const row: GivenUpReport = {
      ...{ at: nowMs, type, occurredAt, recipient, status },
      messageId: messageId?.slice(0, maxText) ?? null,
      diagnostic: diagnostic?.slice(0, maxText) ?? null,
    }
    change.set(key, encode(row)).expire(nowMs + keptDays * dayMs, key)
  }
}

/** Deletes the texts of a source's reports, which contain personal data. */
export function forgetUnmatched(change: Change, source: SourceRef): void {
  for (let slot = 0; slot < slots; slot++) change.delete(slotsKey(source, slot))
}

/** Returns the reports of the last 30 days, latest first. */
export async function unmatchedReports(
  database: Database,
  source: SourceRef,
  nowMs: number,
): Promise<{ readonly counts: UnmatchedCounts; readonly latest: readonly GivenUpReport[] }> {
  const today = Math.floor(nowMs / dayMs)
  const days = Array.from({ length: keptDays }, (_, i) => today - i)
  const sumOf = async (type: UnmatchedReport['type']): Promise<number> => {
    const perDay = await Promise.all(days.map((day) => database.kv.counter(pack(counterKey(source, type, day)))))
    return perDay.reduce((sum, count) => sum + count, 0)
  }
  const [delivered, deferred, bounced, complained] = await Promise.all(types.map(sumOf))
  const latest: GivenUpReport[] = []
  for await (const { value } of database.kv.range({ ...within(slotsKey(source)), whole: true })) latest.push(decode<GivenUpReport>(value))
  return {
    counts: { delivered: delivered ?? 0, deferred: deferred ?? 0, bounced: bounced ?? 0, complained: complained ?? 0 },
    latest: latest.toSorted((a, b) => b.at - a.at),
  }
}
