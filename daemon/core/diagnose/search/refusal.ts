/** Finds the last refusal of a message for one recipient, from our attempts or a later report. Pure. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import { classify, type Classification } from '../../feedback/apply/classify.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import type { AttemptRecord, RecipientReport } from '../../trace/attempt-record.ts'
import type { TraceDetails } from '../../trace/timeline/trace-reader.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { TraceRecipient } from '../../trace/trace.ts'

export const bounceStages = ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'after_acceptance'] as const
export type BounceStage = (typeof bounceStages)[number]

export interface RefusalReply {
  readonly code: number | null
  readonly enhanced: string | null
  /** On one line if it comes from a report. */
  readonly text: string
}

export interface RefusalSeen {
  readonly at: number
  /** `smtp` for our own attempt; otherwise the format of the report. */
  readonly source: string
  readonly stage: BounceStage
  /** False while the message is retried, and for an unverified report. */
  readonly isFinal: boolean
  /** The error without a reply, in one sentence; for example a failed connection. */
  readonly trouble: string | undefined
  readonly reply: RefusalReply | null
  readonly classification: Classification
  /** The report with the refusal. */
  readonly report: TraceReport | undefined
}

/** Returns undefined if the message was not refused. Uses an unverified report only without other evidence. */
export function refusalOf({ trace, attempts, reports }: TraceDetails, recipient: TraceRecipient): RefusalSeen | undefined {
  const isAlone = trace.recipients.length === 1
  const isAbout = (report: TraceReport): boolean => report.recipient === recipient.address || (report.recipient === null && isAlone)
  const matching = reports.filter(
    (report) => report.format !== 'smtp' && isAbout(report) && (report.type === 'bounced' || report.type === 'deferred'),
  )
  const verified = matching.filter(({ isUnverified }) => !isUnverified)
  const report = verified.findLast(({ type }) => type === 'bounced') ?? verified.at(-1)
  if (report && recipient.status !== 'delivered') return byReport(report, recipient.address)
  const wasTaken = recipient.status !== 'queued' && recipient.status !== 'failed'
  const attempt = wasTaken ? undefined : attempts.findLast((one) => verdictFor(one, recipient.address) !== undefined)
  if (attempt) return byAttempt(attempt, recipient)
  const unverified = matching.findLast(({ type }) => type === 'bounced')
  return unverified && byReport(unverified, recipient.address)
}

/** Returns the requested recipient, or the recipient with the worst and latest outcome. */
export function recipientOf({ trace, reports }: TraceDetails, asked: string | undefined): TraceRecipient | undefined {
  const { recipients } = trace
  if (asked !== undefined) return recipients.find(({ address }) => foldEmail(address) === foldEmail(asked))
  const bounced = reports.findLast(({ type, recipient }) => type === 'bounced' && recipient !== null)?.recipient
  const byStatus = (status: string): TraceRecipient | undefined => recipients.find((one) => one.status === status)
  return (
    byStatus('bounced') ??
    byStatus('failed') ??
    recipients.find(({ address }) => address === bounced) ??
    byStatus('complained') ??
    byStatus('queued') ??
    recipients[0]
  )
}

function byReport(report: TraceReport, address: string): RefusalSeen {
  const { type, at, occurredAt, format, smtpCode, status, diagnostic, remoteMta } = report
  return {
    at: Math.min(occurredAt ?? at, at),
    source: format,
    stage: 'after_acceptance',
    isFinal: type === 'bounced' && !report.isUnverified,
    trouble: undefined,
    reply:
      diagnostic === null && smtpCode === null && status === null ? null : { code: smtpCode, enhanced: status, text: diagnostic ?? '' },
    classification: classify({
      status,
      smtpCode,
      diagnostic,
      remoteMta,
      recipient: report.finalRecipient ?? address,
      format: report.format,
    }),
    report,
  }
}

const verdictFor = ({ recipients = [] }: AttemptRecord, address: string): RecipientReport | undefined =>
  recipients.find((one) => one.address === address && (one.verdict === 'permanent' || one.verdict === 'transient'))

function byAttempt(attempt: AttemptRecord, { address, status }: TraceRecipient): RefusalSeen {
  const seen = verdictFor(attempt, address)
  const reply = seen?.reply
  // an HTTP status is not an SMTP reply code
  const smtpCode = attempt.provider === undefined || attempt.provider === 'smtp' ? (reply?.code ?? null) : null
  const diagnostic = reply ? `${smtpCode ?? ''} ${reply.text.replaceAll(/\s+/g, ' ')}`.trim() : (attempt.error?.message ?? null)
  return {
    at: attempt.endedAt ?? attempt.startedAt,
    source: 'smtp',
    stage: stageOf(attempt, seen),
    isFinal: seen?.verdict === 'permanent' || status === 'failed',
    trouble: attempt.error?.message,
    reply: reply ? { code: reply.code, enhanced: reply.enhanced ?? null, text: reply.text } : null,
    classification: refined(
      classify({
        status: reply?.enhanced ?? null,
        smtpCode,
        diagnostic,
        remoteMta: attempt.host ?? null,
        recipient: address,
      }),
      attempt,
      reply !== undefined,
    ),
    report: undefined,
  }
}

/** Replaces the classification by the attempt's error if there is no reply; the fault is then in the destination. */
function refined(seen: Classification, { error }: AttemptRecord, hasReply: boolean): Classification {
  if (hasReply || !error) return seen
  const isSetUp =
    error.class === 'misconfigured' ||
    /^(auth_(?!deferred)|starttls_unavailable|tls_|address_forbidden|destination_misconfigured)/.test(error.code)
  const category: RefusalCategory = isSetUp ? 'auth_client' : 'network'
  const nextActions = isSetUp
    ? ['Correct the settings of the destination, then test it; queued mail is then sent automatically.']
    : ['Test the destination; queued mail is retried automatically.']
  return { ...seen, bounce: isSetUp ? 'block' : 'soft', category, fault: 'sender', suppress: false, reason: error.message, nextActions }
}

const stages: Readonly<Record<string, BounceStage>> = {
  ...{ start: 'connect', dns: 'connect', connect: 'connect', tls: 'connect', greeting: 'connect', ehlo: 'ehlo', auth: 'ehlo' },
  ...{ mail: 'mail', rcpt: 'rcpt', data: 'data', body: 'data', final: 'data', answer: 'data' },
}

/** Returns the stage of the SMTP dialog, from the error or from the measured phases. */
function stageOf({ error, recipients = [], milliseconds = {}, provider }: AttemptRecord, seen: RecipientReport | undefined): BounceStage {
  if (error) return stages[error.phase] ?? 'connect'
  if (seen?.ofSender) return 'mail'
  if (provider !== undefined && provider !== 'smtp') return 'data'
  const isAlone = recipients.every(({ verdict }) => verdict !== 'accepted')
  if (isAlone && (milliseconds['final'] !== undefined || milliseconds['body'] !== undefined)) return 'data'
  return milliseconds['rcpt'] === undefined && milliseconds['data'] === undefined ? 'mail' : 'rcpt'
}
