/**
 * Which of two reports of the same kind about the same recipient is the better evidence: a total order, so that the best of several is
 * the same in whatever order they come. Pure.
 */
import { reportMatches, type TraceReport } from '../../trace/trace-report.ts'
import { isComplaint } from '../suppression/auto-suppression.ts'
import { ownRecords } from './trust.ts'

/** Categories that say that something failed, and not what. */
const vague: readonly (string | null)[] = ['undetermined', 'expired', 'success', 'policy', 'bounce_unparsed', null]
/** What we saw ourselves, and what the operator's own server wrote; mails can be written by anybody. */
const seenOrWritten: readonly string[] = ['smtp', ...ownRecords]

/**
 * First what says why and may be acted on, then what says why, then what may be acted on; then fields made for programs before
 * prose, our own servers before mails, and the stronger proof. What is equal in all of it differs by its time and then by its words,
 * but only where it says something else.
 */
export function isBetterEvidence(report: TraceReport, standing: TraceReport): boolean {
  const difference = compareStrength(report, standing)
  if (difference !== 0) return difference > 0
  const [words, others] = [wordsOf(report), wordsOf(standing)]
  if (words === others) return false
  const [earlier, later] = [report.occurredAt ?? Infinity, standing.occurredAt ?? Infinity]
  return earlier === later ? words < others : earlier < later
}

/** It is better by its kind, whatever its words. */
export const isStrongerEvidence = (report: TraceReport, standing: TraceReport): boolean => compareStrength(report, standing) > 0

function compareStrength(report: TraceReport, standing: TraceReport): number {
  const theirs = strengthOf(standing)
  return strengthOf(report).reduce((difference, value, i) => difference || value - (theirs[i] ?? 0), 0)
}

/** What programs go by differs, so that whoever was notified must be notified again. */
export const saysOtherwise = (report: TraceReport, standing: TraceReport): boolean =>
  (['bounce', 'category', 'status', 'feedbackType'] as const).some((field) => report[field] !== standing[field])

function strengthOf(report: TraceReport): readonly number[] {
  const isClear = report.type === 'complained' ? isComplaint(report) : !vague.includes(report.category)
  // of records of before 2026-11-22, only the outcome is known
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

const wordsOf = ({
  bounce,
  category,
  status,
  feedbackType,
  smtpCode,
  diagnostic,
  remoteMta,
  finalRecipient,
  format,
}: TraceReport): string => JSON.stringify([bounce, category, status, feedbackType, smtpCode, diagnostic, remoteMta, finalRecipient, format])
