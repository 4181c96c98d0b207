/** The last word that refused a message to one recipient: of our own attempts, or of a report that came later. Pure. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import { classify, type Classification } from '../../feedback/apply/classify.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import type { AttemptRecord, RecipientReport } from '../../trace/attempt-record.ts'
import type { TraceStory } from '../../trace/story/trace-reader.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { TraceRecipient } from '../../trace/trace.ts'

export const bounceStages = ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'after_acceptance'] as const
export type BounceStage = (typeof bounceStages)[number]

export interface RefusalReply {
  readonly code: number | null
  readonly enhanced: string | null
  /** On one line where a report gave it. */
  readonly text: string
}

export interface RefusalSeen {
  readonly at: number
  /** `smtp`: our own attempt; else the format of the report. */
  readonly source: string
  readonly stage: BounceStage
  /** False while it is tried again, and of an unverified report. */
  readonly isFinal: boolean
  /** What happened in place of a reply, in one sentence: a connection that failed, for example. */
  readonly trouble: string | undefined
  readonly reply: RefusalReply | null
  readonly classification: Classification
  /** The report that gave it. */
  readonly report: TraceReport | undefined
}

/** Undefined when it was not refused. An unverified report counts only where there is nothing else. */
export function refusalOf({ trace, attempts, reports }: TraceStory, recipient: TraceRecipient): RefusalSeen | undefined {
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

/** The recipient that is most worth explaining: the one asked for, else the one that fared worst and latest. */
export function recipientOf({ trace, reports }: TraceStory, asked: string | undefined): TraceRecipient | undefined {
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
  // the status of an answer over HTTP is no reply code
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

/** Without any reply, the trouble of the attempt is what is known, and the destination is where it lies. */
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

/** Where in the dialog it was: from the error, else from how far the dialog came. */
function stageOf({ error, recipients = [], milliseconds = {}, provider }: AttemptRecord, seen: RecipientReport | undefined): BounceStage {
  if (error) return stages[error.phase] ?? 'connect'
  if (seen?.ofSender) return 'mail'
  if (provider !== undefined && provider !== 'smtp') return 'data'
  const isAlone = recipients.every(({ verdict }) => verdict !== 'accepted')
  if (isAlone && (milliseconds['final'] !== undefined || milliseconds['body'] !== undefined)) return 'data'
  return milliseconds['rcpt'] === undefined && milliseconds['data'] === undefined ? 'mail' : 'rcpt'
}
