/**
 * Decides automatic suppressions. Invalid addresses and complainants are suppressed immediately; addresses with soft bounces on 3 days
 * within 30. A block never suppresses, because its cause is the sender or the message.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, type Element } from '#store/tuple.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { Correction } from './add-suppressions.ts'
import { foldEmail, type Suppression } from './suppression.ts'

const dayMs = 86_400_000
/** Number of days with soft bounces that suppress … */
const softDaysMin = 3
/** … within this number of days. */
const softWindowDays = 30
/** Feedback types that are not complaints about the message: removal from the spam folder, or signature failures. */
const notComplaints: readonly (string | null)[] = ['not-spam', 'auth-failure']

/** Whether the feedback type is a complaint about the message. */
export const isComplaint = ({ feedbackType }: Pick<TraceReport, 'feedbackType'>): boolean => !notComplaints.includes(feedbackType)

/** Key that records a soft bounce of one message on one day. */
const softKey = (organizationId: string, { recipient, traceId, ...report }: TraceReport): readonly Element[] => [
  ...softPrefix(organizationId, recipient),
  dayOf(report),
  traceId,
]

const softPrefix = (organizationId: string, recipient: string | null): readonly Element[] => [
  organizationId,
  'feedback.soft',
  foldEmail(recipient ?? ''),
]

const dayOf = ({ occurredAt, at }: Pick<TraceReport, 'occurredAt' | 'at'>): number => Math.floor(Math.min(occurredAt ?? at, at) / dayMs)

const isSoftBounce = ({ type, bounce, recipient, maySuppress }: TraceReport): boolean =>
  maySuppress === true && type === 'bounced' && bounce === 'soft' && recipient !== null

/** Returns why the report alone suppresses its recipient, in one sentence, or undefined. Pure. */
export function causeAtOnce({ type, bounce, reason, recipient, feedbackType, maySuppress }: TraceReport): string | undefined {
  if (recipient === null || maySuppress !== true) return undefined
  if (type === 'complained' && isComplaint({ feedbackType })) return `the recipient complained (${feedbackType ?? 'abuse'}).`
  return type === 'bounced' && bounce === 'hard' ? `it bounced. ${reason}` : undefined
}

/**
 * Returns why the recipient must be suppressed, in one sentence, or undefined. Records a soft bounce in the write, once per day and
 * message. Deletes the record of `before`, the weaker report that is replaced.
 */
export async function causeOfSuppression(
  database: Database,
  change: Change,
  organizationId: string,
  report: TraceReport,
  before: TraceReport | undefined,
): Promise<string | undefined> {
  const noted = before && isSoftBounce(before) ? softKey(organizationId, before) : undefined
  if (noted) change.delete(noted)
  if (!isSoftBounce(report)) return causeAtOnce(report)
  const today = dayOf(report)
  const key = softKey(organizationId, report)
  change.set(key).expire((today + softWindowDays) * dayMs, key)
  const days = await softDays(database, softPrefix(organizationId, report.recipient), today, report.traceId)
  return days.size >= softDaysMin ? `it bounced on ${days.size} days of the last ${softWindowDays}. ${report.reason}` : undefined
}

/** Returns the days within the window of `today`, including it, with soft bounces of other messages. Makes one short read per day. */
async function softDays(database: Database, prefix: readonly Element[], today: number, traceId: string): Promise<Set<number>> {
  const days = new Set([today])
  const end = pack([...prefix, today + softWindowDays])
  for (let from: number | undefined = today - softWindowDays + 1; from !== undefined;) {
    const start: Uint8Array = pack([...prefix, from])
    from = undefined
    for await (const { key } of database.kv.range({ start, end, limit: 2 })) {
      const [, , , day, trace] = unpack(key)
      if (trace === traceId) continue
      days.add(Number(day))
      from = Number(day) + 1
      break
    }
  }
  return days
}

/** The effect of a report on the suppression list. */
export interface Consequence {
  /** Entry to add. */
  readonly entry?: Suppression
  /** Change to the entry that the weaker report added. */
  readonly correction?: Correction
}

/**
 * Decides the consequence of a report, given its cause and the weaker report that it replaces. A suppression that the earlier report
 * caused is not added again: a member may have removed it since.
 */
export function consequenceOf(
  database: Database,
  report: TraceReport,
  before: TraceReport | undefined,
  cause: string | undefined,
  nowMs: number,
): Consequence {
  const made = before?.suppression
  if (made) {
    const reason = cause === undefined ? null : reasonOf(report, cause)
    return { correction: { email: foldEmail(report.recipient ?? ''), id: made.id, reason } }
  }
  const wasCalledFor = before !== undefined && causeAtOnce(before) !== undefined
  return cause === undefined || wasCalledFor ? {} : { entry: entryFor(database, report, cause, nowMs) }
}

const reasonOf = ({ traceId }: TraceReport, cause: string): string => `After the message ${traceId}, ${cause}`

const entryFor = (database: Database, report: TraceReport, cause: string, nowMs: number): Suppression => ({
  id: database.newId('sup', nowMs),
  email: foldEmail(report.recipient ?? ''),
  reason: reasonOf(report, cause),
  projectId: report.projectId,
  source: report.type === 'complained' ? 'complaint' : 'bounce',
  expiresAt: null,
  createdAt: nowMs,
})
