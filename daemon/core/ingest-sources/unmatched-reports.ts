/**
 * Reports of a source that fitted no message: counted by day and kind, and the latest bounces and complaints of them in their words, so
 * that whoever set a source up can see that mail of others comes there, or that their own is not recognised.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

/** What is shown of a report; the kinds are those of events. */
export interface UnmatchedReport {
  readonly type: 'bounced' | 'deferred' | 'delivered' | 'complained'
  /** 64 hexadecimal digits, the same for the same report. */
  readonly key: string
  /** By the teller's clock; null when it does not say. */
  readonly occurredAt: number | null
  readonly recipient: string | null
  readonly messageId: string | null
  readonly status: string | null
  readonly diagnostic: string | null
}

/** One of the latest, and when it was given up. */
export type GivenUpReport = Omit<UnmatchedReport, 'key'> & { readonly at: number }

export type UnmatchedCounts = Readonly<Record<UnmatchedReport['type'], number>>

const types = ['delivered', 'deferred', 'bounced', 'complained'] as const satisfies readonly UnmatchedReport['type'][]
const dayMs = 86_400_000
const keptDays = 30
/** Places for the latest reports. Each report has one of them by its key, so that writing needs no reading. */
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

/** Counts reports that fit no message and are not waited for. */
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

/** Forgets the words of a source's reports, which name people. */
export function forgetUnmatched(change: Change, source: SourceRef): void {
  for (let slot = 0; slot < slots; slot++) change.delete(slotsKey(source, slot))
}

/** Of the last thirty days; the latest first. */
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
