/** Notices to the author of a message about recipients that it did not reach, as its trace keeps them. RFC 5321 §6.1. */
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { TraceStatus } from '../states.ts'

/**
 * Why a notice was not sent. `limit`: the credential reached its limit; `no_way`: no destination can carry it; `off`: notices were turned
 * off meanwhile; `none_left`: every recipient was queued again, or is the author; `refused`: the notice was refused each time.
 */
export const noticeBars = ['limit', 'no_way', 'off', 'none_left', 'refused'] as const
export type NoticeBar = (typeof noticeBars)[number]

/** The recipients that it reports have its number, counted from 1. */
export const traceNotice = z.strictObject({
  dueAt: z.int(),
  /** Attempts to send it that were refused; none when absent. */
  tries: z.int().optional(),
  /** When it was sent or withheld; absent while it is due. */
  at: z.int().optional(),
  /** The trace of the notice; absent when it was withheld. */
  traceId: z.string().optional(),
  /** It left as mail of the service itself, whose traces belong to no organization. */
  isSystemMail: z.literal(true).optional(),
  withheld: z.enum(noticeBars).optional(),
})
export type TraceNotice = Immutable<z.infer<typeof traceNotice>>

interface Noticed {
  readonly notices?: readonly TraceNotice[] | undefined
}

/** The notice that is due; undefined when there is none. */
export function openNotice({ notices }: Noticed): TraceNotice | undefined {
  const last = notices?.at(-1)
  return last && last.at === undefined ? last : undefined
}

/** The trace with its last notice changed. */
export function withLastNotice<T extends Noticed>(trace: T, changes: Partial<TraceNotice>): T {
  const { notices = [] } = trace
  const last = notices.at(-1)
  return last ? { ...trace, notices: [...notices.slice(0, -1), { ...last, ...changes }] } : trace
}

/**
 * Whether the message is over for the recipient, and the author's server does not know it: a report that followed the author's own
 * return path is in the author's mailbox already.
 */
export const isUnknownToAuthor = ({ status, verp, returnPath }: Fate): boolean =>
  status === 'failed' || status === 'suppressed' || (status === 'bounced' && verp !== undefined && returnPath === verp)

interface Fate {
  readonly status: TraceStatus
  readonly verp?: string | undefined
  readonly returnPath?: string | null | undefined
}
