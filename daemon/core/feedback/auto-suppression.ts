/**
 * Who is suppressed because of a report: bad addresses at once, addresses that keep failing after a third day of thirty,
 * complainants at once. Never because of a block, which is about the sender or the message.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import type { TraceReport } from '../trace/trace-report.ts'
import { foldEmail, type Suppression } from './suppression.ts'

const dayMs = 86_400_000
/** Soft bounces on so many days … */
const softDaysMin = 3
/** … of so many suppress. */
const softWindowDays = 30
/** Complaints that are none about the message: it was taken out of the spam folder, or is about signatures. */
const notComplaints: readonly (string | null)[] = ['not-spam', 'auth-failure']

/** A day on which a recipient bounced softly. */
const softKey = (organizationId: string, email: string, day: number): readonly Element[] => [organizationId, 'feedback.soft', email, day]

/**
 * Why the recipient is to be suppressed, in one sentence, or undefined. Notes a soft bounce in the write, once for each day. Only for
 * reports that may suppress (`maySuppress`).
 */
export async function causeOfSuppression(
  database: Database,
  change: Change,
  organizationId: string,
  report: TraceReport,
): Promise<string | undefined> {
  const { type, bounce, reason, recipient, feedbackType, occurredAt, at } = report
  if (recipient === null) return undefined
  if (type === 'complained' && !notComplaints.includes(feedbackType)) return `the recipient complained (${feedbackType ?? 'abuse'}).`
  if (type !== 'bounced') return undefined
  if (bounce === 'hard') return `it bounced. ${reason}`
  if (bounce !== 'soft') return undefined
  const today = Math.floor(Math.min(occurredAt ?? at, at) / dayMs)
  const email = foldEmail(recipient)
  const key = softKey(organizationId, email, today)
  change.set(key).expire((today + softWindowDays) * dayMs, key)
  const days = new Set([today])
  for await (const { key: row } of database.kv.range(within([organizationId, 'feedback.soft', email]))) {
    const day = Number(unpack(row)[3])
    if (Math.abs(today - day) < softWindowDays) days.add(day)
  }
  return days.size >= softDaysMin ? `it bounced on ${days.size} days of the last ${softWindowDays}. ${reason}` : undefined
}

/** The entry of the list that follows. */
export const entryFor = (report: TraceReport, cause: string): Suppression => ({
  id: newId('sup', report.at),
  email: foldEmail(report.recipient ?? ''),
  reason: `After the message ${report.traceId}, ${cause}`,
  projectId: report.projectId,
  source: report.type === 'complained' ? 'complaint' : 'bounce',
  expiresAt: null,
  createdAt: report.at,
})
