/** Reports that came before what they are about was written down: rows that are tried again for a while. */
import { hash } from 'node:crypto'
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { keptReportBytes } from '../trace/kept-report.ts'
import type { FeedbackEvent } from './event.ts'
import type { FeedbackOrigin } from './origin.ts'

export interface PendingReport {
  /** See `pendingId`. */
  readonly id: string
  readonly origin: FeedbackOrigin
  readonly event: FeedbackEvent
  /** When it came first. */
  readonly since: number
}

/** A report that fits no message is given up after so long. */
export const patienceMs = 15 * 60_000

const pendingKeys = globalKey('feedback.pending')
export const pendingKey = (id: string): readonly Element[] => globalKey('feedback.pending', id)

/** The same however often the event is told by this origin. */
export const pendingId = ({ organizationId, sourceId, returnPath = '' }: FeedbackOrigin, { key }: FeedbackEvent): string =>
  hash('sha256', JSON.stringify([organizationId, sourceId, returnPath, key]))

type Row = Omit<PendingReport, 'id' | 'origin'> & { readonly origin: Omit<FeedbackOrigin, 'raw'>; readonly raw?: string }

export function keepPending(change: Change, { id, origin, event, since }: PendingReport): void {
  const { raw, ...rest } = origin
  const row: Row = { origin: rest, event, since, ...(raw && { raw: Buffer.from(raw.subarray(0, keptReportBytes)).toString('base64') }) }
  change.set(pendingKey(id), encode(row))
}

/** All that wait, in no order. */
export async function* pendingReports(database: Database): AsyncGenerator<PendingReport> {
  for await (const { key, value } of database.kv.range(within(pendingKeys))) {
    const { raw, origin, ...row } = decode<Row>(value)
    const id = String(unpack(key)[2])
    yield { ...row, id, origin: { ...origin, ...(raw !== undefined && { raw: Buffer.from(raw, 'base64') }) } }
  }
}
