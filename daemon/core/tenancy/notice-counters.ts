/** Counters of failure notices for mail of an SMTP credential or key on a UTC day: sent, and withheld by the limit. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { dayOf } from './counters.ts'

/** Submitter of the messages that notices concern. */
export interface NoticeSource {
  readonly organizationId: string
  /** Id of the SMTP credential or key. */
  readonly submittedBy: string
}

/** Notices of a UTC day. */
export interface NoticesOfDay {
  readonly sent: number
  readonly withheld: number
}

const dayMs = 86_400_000

const dayCounter = ({ organizationId, submittedBy }: NoticeSource, what: keyof NoticesOfDay, nowMs: number): readonly Element[] => [
  organizationId,
  'counter',
  'notices',
  submittedBy,
  what,
  dayOf(nowMs),
]

/** Counts a notice in the write that sends or withholds it. */
export function countNotice(change: Change, source: NoticeSource, what: keyof NoticesOfDay, nowMs: number): void {
  const key = dayCounter(source, what, nowMs)
  change.add(key, 1).expire((Math.floor(nowMs / dayMs) + 2) * dayMs, key)
}

/** Returns the counts of today. */
export async function noticesToday({ kv }: Pick<Database, 'kv'>, source: NoticeSource, nowMs: number): Promise<NoticesOfDay> {
  const keys = (['sent', 'withheld'] as const).map((what) => pack(dayCounter(source, what, nowMs)))
  const [sent = 0, withheld = 0] = await kv.counters(keys)
  return { sent, withheld }
}
