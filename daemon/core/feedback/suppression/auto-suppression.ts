/**
 * Who is suppressed because of a report: bad addresses at once, addresses that keep failing after a third day of thirty,
 * complainants at once. Never because of a block, which is about the sender or the message.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, type Element } from '#store/tuple.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { Correction } from './add-suppressions.ts'
import { foldEmail, type Suppression } from './suppression.ts'

const dayMs = 86_400_000
/** Soft bounces on so many days … */
const softDaysMin = 3
/** … of so many suppress. */
const softWindowDays = 30
/** Complaints that are none about the message: it was taken out of the spam folder, or is about signatures. */
const notComplaints: readonly (string | null)[] = ['not-spam', 'auth-failure']

/** The report is about the message: it was not taken out of the spam folder, and is not about signatures. */
export const isComplaint = ({ feedbackType }: Pick<TraceReport, 'feedbackType'>): boolean => !notComplaints.includes(feedbackType)

/** A day on which a message to the recipient bounced softly. */
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

/** Why the report alone is enough to suppress its recipient, in one sentence, or undefined. Pure. */
export function causeAtOnce({ type, bounce, reason, recipient, feedbackType, maySuppress }: TraceReport): string | undefined {
  if (recipient === null || maySuppress !== true) return undefined
  if (type === 'complained' && isComplaint({ feedbackType })) return `the recipient complained (${feedbackType ?? 'abuse'}).`
  return type === 'bounced' && bounce === 'hard' ? `it bounced. ${reason}` : undefined
}

/**
 * Why the recipient is to be suppressed, in one sentence, or undefined. Notes a soft bounce in the write, once for each day and message, in
 * the place of what `before` noted, the worse evidence that the report replaces.
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

/** The days near `today`, which is one of them, on which other messages bounced softly; one short read for each. */
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

/** What a report means for the list. */
export interface Consequence {
  /** The entry to add. */
  readonly entry?: Suppression
  /** What happens to the entry that the evidence before it made. */
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
