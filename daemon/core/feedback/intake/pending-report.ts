/** Reports that arrived before their message was recorded: stored rows that are retried for a limited time. */
import { hash } from 'node:crypto'
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import { maxRawReportBytes } from '../../trace/timeline/raw-report.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'

export interface PendingReport {
  readonly id: string
  /** Without the original mail. */
  readonly origin: FeedbackOrigin
  readonly event: FeedbackEvent
  /** Time of arrival, in milliseconds since the epoch. */
  readonly since: number
  /** See `readPendingRaw`. */
  readonly rawId?: string | undefined
}

/** Maximum age of an unmatched report. */
export const pendingMs = 15 * 60_000

const pendingKeys = globalKey('feedback.pending')
export const pendingKey = (id: string): readonly Element[] => globalKey('feedback.pending', id)
const rawKey = (id: string): readonly Element[] => globalKey('feedback.pending-raw', id)

/** Returns the same id for each repetition of an event from the same origin. */
const pendingId = ({ organizationId, sourceId, returnPath = '' }: FeedbackOrigin, { key }: FeedbackEvent): string =>
  hash('sha256', JSON.stringify([organizationId, sourceId, returnPath, key]))

/** Stores pending reports of one origin. Stores their original mail once for all of them. */
export function keepPending(change: Change, { raw, ...origin }: FeedbackOrigin, events: ReadonlySet<FeedbackEvent>, nowMs: number): void {
  if (events.size === 0) return
  const rawId = raw && keepRaw(change, raw.subarray(0, maxRawReportBytes), nowMs)
  for (const event of events) {
    const row: Omit<PendingReport, 'id'> = { origin, event, since: nowMs, rawId }
    change.set(pendingKey(pendingId(origin, event)), encode(row))
  }
}

function keepRaw(change: Change, raw: Uint8Array, nowMs: number): string {
  const id = hash('sha256', raw)
  change.set(rawKey(id), raw).expire(nowMs + 2 * pendingMs, rawKey(id))
  return id
}

/** Returns the stored start of the original mail. */
export async function readPendingRaw(database: Database, { rawId }: PendingReport): Promise<Uint8Array | undefined> {
  return rawId === undefined ? undefined : (await database.kv.get(pack(rawKey(rawId))))?.value
}

/** All pending reports, in no particular order. */
export async function* pendingReports(database: Database): AsyncGenerator<PendingReport> {
  for await (const { key, value } of database.kv.range(within(pendingKeys)))
    yield { ...decode<Omit<PendingReport, 'id'>>(value), id: String(unpack(key)[2]) }
}
