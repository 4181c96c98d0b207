/** How many notices the mail of one SMTP credential or key brings about: 20 an hour and 100 a day; those beyond are counted. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { Refusal } from '../refusals.ts'
import { dayOf } from '../tenancy/counters.ts'
import type { WindowLimit } from '../visitors/stored-windows.ts'

export const noticesPerHour = 20
export const noticesPerDay = 100

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The submitter of the messages that notices are about. */
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

/** Sliding windows for `openWindows`. */
export function noticeWindows({ organizationId, submittedBy }: NoticeSource): readonly WindowLimit[] {
  const windowOf = (name: string, limit: number, sliceMs: number, slices: number): WindowLimit => ({
    shape: { sliceMs, slices },
    key: [organizationId, 'counter', 'notices', submittedBy, name],
    limit,
    refusal: (retryAfterSeconds) =>
      new Refusal('rate_limit_exceeded', `The limit of ${limit} notices per ${name} is reached.`, { retryAfterSeconds }),
  })
  return [windowOf('hour', noticesPerHour, hourMs / 12, 12), windowOf('day', noticesPerDay, hourMs, 24)]
}

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

/** Those of today. */
export async function noticesToday({ kv }: Pick<Database, 'kv'>, source: NoticeSource, nowMs: number): Promise<NoticesOfDay> {
  const [sent = 0, withheld = 0] = await kv.counters([pack(dayCounter(source, 'sent', nowMs)), pack(dayCounter(source, 'withheld', nowMs))])
  return { sent, withheld }
}
