/** Applies the result of a delivery attempt to the message. Pure. RFC 5321 §4.5.4.1, promises 3 and 4. */
import { advance, worstStatus } from '../../trace/states.ts'
import type { Trace, TraceRecipient } from '../../trace/trace.ts'
import { nextAttempt, type RetryPolicy } from './backoff.ts'
import type { AttemptReport, RecipientReport } from '../transport.ts'

/** A recipient gets no further attempt after this number of unknown outcomes, so that an unresponsive peer does not receive many copies. */
const maxUnknownAttempts = 2

/** Further facts for the next attempt: immediate failover, or a recent attempt with an unknown outcome. */
export interface NextStep {
  readonly isAtOnce?: boolean
  readonly afterUnknown?: boolean
}

/**
 * Returns the trace after an attempt. `nextAttemptAt` is null if the message is done. An attempt aborted by shutdown is due immediately.
 */
export function applyReport(
  trace: Trace,
  report: AttemptReport,
  policy: RetryPolicy,
  now: number,
  random: number,
  { isAtOnce = false, afterUnknown = false }: NextStep = {},
): Trace {
  const reports = new Map(report.recipients.map((recipient) => [recipient.address, recipient]))
  const unknown = report.recipients.some(({ verdict }) => verdict === 'unknown')
  const unknownAttempts = trace.unknownAttempts + (unknown ? 1 : 0)
  const attempts = trace.attempts + 1
  const handedBack = (report.error?.code === 'aborted' || report.error?.code === 'closed') && !unknown
  const mustWait = unknown || afterUnknown
  const notBefore = now + (report.retryAfterSeconds ?? 0) * 1000
  const next = (): number | undefined => nextAttempt(policy, { ...scheduleOf(trace, attempts), unknown: mustWait, notBefore }, now, random)
  const due = handedBack || (isAtOnce && !mustWait) ? now : next()
  const recipients = trace.recipients.map((recipient) => {
    if (recipient.status !== 'queued') return recipient
    const seen = reports.get(recipient.address) ?? { address: recipient.address, verdict: 'transient' } // every recipient gets a result
    return afterAttempt(recipient, seen, due !== undefined)
  })
  const status = worstStatus(recipients.map((recipient) => recipient.status))
  return {
    ...trace,
    recipients,
    status,
    attempts,
    unknownAttempts,
    updatedAt: now,
    nextAttemptAt: status === 'queued' ? (due ?? null) : null,
  }
}

/**
 * Start and attempts of the current retry schedule. A replay or release restarts the schedule; a scheduled send starts at its time. One
 * round over all fallbacks counts as one attempt.
 */
function scheduleOf(
  { createdAt, sendAt = createdAt, replays = [], queueActs = [], failover }: Trace,
  attempts: number,
): { readonly createdAt: number; readonly attempts: number } {
  const counted = attempts - (failover?.detours ?? 0)
  const releases = queueActs.filter(({ act, at }) => act === 'release' && at >= sendAt)
  const begun = [...replays, ...releases].map(({ at, attempts: before = 0 }) => ({ at, before }))
  const last = begun.toSorted((a, b) => a.at - b.at).at(-1)
  return last ? { createdAt: last.at, attempts: counted - last.before } : { createdAt: sendAt, attempts: counted }
}

/**
 * Returns the trace after an attempt interrupted by a crash. Recipients with a known outcome keep it, so that they do not get a second
 * copy. For all others the attempt does not count.
 */
export function applyInterruption(trace: Trace, known: readonly RecipientReport[] = []): Trace {
  const reports = new Map(known.map((recipient) => [recipient.address, recipient]))
  const recipients = trace.recipients.map((recipient) => {
    const seen = reports.get(recipient.address)
    const isDecided = recipient.status === 'queued' && (seen?.verdict === 'accepted' || seen?.verdict === 'permanent')
    return seen && isDecided ? afterAttempt(recipient, seen, true) : recipient
  })
  const status = worstStatus(recipients.map((recipient) => recipient.status))
  return { ...trace, recipients, status, attempts: trace.attempts + 1, nextAttemptAt: status === 'queued' ? trace.nextAttemptAt : null }
}

function afterAttempt(recipient: TraceRecipient, { verdict, reply, returnPath }: RecipientReport, mayRetry: boolean): TraceRecipient {
  const unknownAttempts = (recipient.unknownAttempts ?? 0) + (verdict === 'unknown' ? 1 : 0)
  const next = {
    ...recipient,
    ...(reply && { reply }),
    ...(returnPath !== undefined && { returnPath }),
    ...(unknownAttempts > 0 && { unknownAttempts }),
  }
  if (verdict === 'accepted') return { ...next, status: advance(recipient.status, 'accepted_by_provider') }
  const isGivenUp = verdict === 'permanent' || !mayRetry || (verdict === 'unknown' && unknownAttempts >= maxUnknownAttempts)
  return isGivenUp ? { ...next, status: advance(recipient.status, 'gave_up') } : next
}

/** Returns the report of an attempt that could not begin, for example because the destination was deleted. */
export function failedBeforeStart(trace: Trace, code: string, message: string, verdict: 'permanent' | 'transient'): AttemptReport {
  return {
    recipients: trace.recipients.filter(({ status }) => status === 'queued').map(({ address }) => ({ address, verdict })),
    host: '',
    port: 0,
    reused: false,
    error: { code, message, phase: 'start' },
    milliseconds: {},
  }
}
