/** Notices to the author about failed recipients, as stored in the trace. RFC 5321 §6.1. */
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { TraceStatus } from '../states.ts'

/**
 * Why a notice was not sent. `limit`: the credential reached its limit. `no_way`: no destination can carry it. `off`: notices were turned
 * off in the meantime. `none_left`: every recipient was queued again, or is the author. `refused`: every attempt to send the notice was
 * refused.
 */
export const noticeBars = ['limit', 'no_way', 'off', 'none_left', 'refused'] as const
export type NoticeBar = (typeof noticeBars)[number]

/** A notice. Its recipients store its number, counted from 1. */
export const traceNotice = z.strictObject({
  dueAt: z.int(),
  /** Refused attempts to send it; absent for none. */
  tries: z.int().optional(),
  /** When it was sent or withheld; absent while it is due. */
  at: z.int().optional(),
  /** The trace of the notice; absent if it was withheld. */
  traceId: z.string().optional(),
  /** Sent as system mail, whose traces belong to no organization. */
  isSystemMail: z.literal(true).optional(),
  withheld: z.enum(noticeBars).optional(),
})
export type TraceNotice = Immutable<z.infer<typeof traceNotice>>

interface Noticed {
  readonly notices?: readonly TraceNotice[] | undefined
}

/** Returns the due notice, or undefined. */
export function openNotice({ notices }: Noticed): TraceNotice | undefined {
  const last = notices?.at(-1)
  return last && last.at === undefined ? last : undefined
}

/** Returns the trace with changes to its last notice. */
export function withLastNotice<T extends Noticed>(trace: T, changes: Partial<TraceNotice>): T {
  const { notices = [] } = trace
  const last = notices.at(-1)
  return last ? { ...trace, notices: [...notices.slice(0, -1), { ...last, ...changes }] } : trace
}

/**
 * Returns true if delivery to the recipient has ended and the author's server does not know. Reports to the author's own return path are in
 * the author's mailbox already.
 */
export const isUnknownToAuthor = ({ status, verp, returnPath }: Fate): boolean =>
  status === 'failed' || status === 'suppressed' || (status === 'bounced' && verp !== undefined && returnPath === verp)

interface Fate {
  readonly status: TraceStatus
  readonly verp?: string | undefined
  readonly returnPath?: string | null | undefined
}
