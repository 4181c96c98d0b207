/**
 * Compares two reports of the same kind about the same recipient. The order is total, so the best report does not depend on the order of
 * arrival. Pure.
 */
import { reportMatches, type TraceReport } from '../../trace/trace-report.ts'
import { isComplaint } from '../suppression/auto-suppression.ts'
import { ownRecords } from './trust.ts'

/** Categories that state a failure without its cause. */
const vague: readonly (string | null)[] = ['undetermined', 'expired', 'success', 'policy', 'bounce_unparsed', null]
/** Formats of our own observations and of the operator's own server. Anybody can write the other formats, which are mails. */
const seenOrWritten: readonly string[] = ['smtp', ...ownRecords]

/**
 * Whether the report is better evidence than the stored report. Criteria in order:
 * - a clear cause that may suppress
 * - a clear cause
 * - permission to suppress
 * - fields for programs rather than prose
 * - the operator's own servers rather than mails
 * - the stronger proof
 *
 * Reports of equal strength with different contents are ordered by time, then by their text.
 */
export function isBetterEvidence(report: TraceReport, standing: TraceReport): boolean {
  const difference = compareStrength(report, standing)
  if (difference !== 0) return difference > 0
  const [text, standingText] = [textOf(report), textOf(standing)]
  if (text === standingText) return false
  const [earlier, later] = [report.occurredAt ?? Infinity, standing.occurredAt ?? Infinity]
  return earlier === later ? text < standingText : earlier < later
}

/** Whether the report meets an earlier criterion of `isBetterEvidence` than the stored report. Ignores time and text. */
export const isStrongerEvidence = (report: TraceReport, standing: TraceReport): boolean => compareStrength(report, standing) > 0

function compareStrength(report: TraceReport, standing: TraceReport): number {
  const theirs = strengthOf(standing)
  return strengthOf(report).reduce((difference, value, i) => difference || value - (theirs[i] ?? 0), 0)
}

/** Whether fields used by programs differ, so that the webhook must be notified again. */
export const saysOtherwise = (report: TraceReport, standing: TraceReport): boolean =>
  (['bounce', 'category', 'status', 'feedbackType'] as const).some((field) => report[field] !== standing[field])

function strengthOf(report: TraceReport): readonly number[] {
  const isClear = report.type === 'complained' ? isComplaint(report) : !vague.includes(report.category)
  // records before 2026-11-22 have only the outcome
  const mayAct = report.maySuppress ?? report.suppression !== null
  return [
    Number(isClear && mayAct),
    Number(isClear),
    Number(mayAct),
    Number(report.isStructured ?? false),
    Number(seenOrWritten.includes(report.format)),
    -reportMatches.indexOf(report.proof),
  ]
}

const textOf = ({ bounce, category, status, feedbackType, smtpCode, diagnostic, remoteMta, finalRecipient, format }: TraceReport): string =>
  JSON.stringify([bounce, category, status, feedbackType, smtpCode, diagnostic, remoteMta, finalRecipient, format])
