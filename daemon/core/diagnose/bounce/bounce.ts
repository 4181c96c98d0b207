/** Diagnoses a bounce: the refusal, the party at fault, next actions, and other messages with the same refusal. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import type { Fault } from '../../feedback/apply/classify.ts'
import { isEarlierUnsubscribe } from '../../feedback/suppression/earlier-unsubscribes.ts'
import { foldEmail, isInForce, suppressions } from '../../feedback/suppression/suppression.ts'
import type { TraceReader, TraceDetails } from '../../trace/timeline/trace-reader.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import { dueAt } from '../../trace/acts/queue-acts.ts'
import type { Trace, TraceRecipient } from '../../trace/trace.ts'
import type { BounceDiagnosis } from '../search/diagnosis.ts'
import { findMessage } from '../search/find-message.ts'
import { presentValues, type LookUpOptions } from '../search/look-ups.ts'
import { whyNotSuppressed } from './not-suppressed.ts'
import { recipientOf, refusalOf, type RefusalSeen } from '../search/refusal.ts'
import { relatedTo, type Related } from '../search/related-refusals.ts'
import { isUnsigned, recordsOf } from './sender-records.ts'
import { textOf } from '../search/time-window.ts'

export interface BounceOptions extends LookUpOptions, Core {
  readonly traces: TraceReader
}

export interface BounceRequest {
  /** Trace id, Message-ID, or queue id of the next host. */
  readonly messageId: string
  /** Selects one of several recipients. A foreign id is searched only in messages to this recipient. */
  readonly recipient?: string | undefined
}

/** Returns undefined if no message within the principal's reach has this id. */
export async function diagnoseBounce(
  options: BounceOptions,
  principal: Principal,
  request: BounceRequest,
): Promise<BounceDiagnosis | undefined> {
  const { database, policies, traces, clock } = options
  const found = await findMessage(options, principal, request.messageId, request.recipient, clock.now())
  if (!found) return undefined
  const details = await traces.get(principal, found.trace.id)
  const recipient = recipientOf(details, found.recipient)
  if (!recipient) return undefined
  const seen = refusalOf(details, recipient)
  const now = clock.now()
  const [related, entry, { organization }, records] = await Promise.all([
    relatedTo(database, principal, details.trace, recipient.address, seen?.reply?.text, now),
    database.find(suppressions, principal, 'email', [foldEmail(recipient.address)]),
    policies.of(principal.organizationId),
    senderRecords(options, details, recipient, seen),
  ])
  const done = entry !== undefined && isInForce(entry.record, now) && !isEarlierUnsubscribe(entry.record)
  const recommended =
    seen?.isFinal === true && (seen.classification.suppress || (seen.classification.bounce === 'soft' && related.softDays >= softDaysMin))
  const advice = {
    recommended: recommended || recipient.status === 'complained',
    done,
    flag: isSwitchedOn(organization, 'bounce_auto_suppress'),
  }
  const report =
    recipient.status === 'complained'
      ? reportOf(details, recipient, 'complained')
      : (seen?.report ?? reportOf(details, recipient, 'bounced'))
  const suppress = { ...advice, reason: whyNotSuppressed({ ...advice, report, recipients: details.trace.recipients.length }) }
  const { reason, actions } = seen ? ofRefusal(seen, details, related) : ofOther(recipient, details)
  const others = otherFailures(details, recipient)
  return {
    ...{ traceId: details.trace.id, recipient: recipient.address },
    ...factsOf(seen, recipient),
    plainReason: reason,
    nextActions: [...actions, ...records, ...suppressActions(suppress, recipient), ...others],
    suppress,
    retry: retryOf(seen, details.trace),
    related,
    isRawAvailable: (seen?.report?.rawBytes ?? 0) > 0,
  }
}

/** Returns the last report of a kind about a recipient, including refusals during our attempts. */
const reportOf = ({ reports, trace }: TraceDetails, { address }: TraceRecipient, kind: TraceReport['type']): TraceReport | undefined =>
  reports.findLast(
    ({ type, recipient }) => type === kind && (recipient === address || (recipient === null && trace.recipients.length === 1)),
  )

/** Soft bounces on this many days within 30 recommend a suppression, as an invalid address does. */
const softDaysMin = 3

const factsOf = (seen: RefusalSeen | undefined, { status }: TraceRecipient) => ({
  bouncedAt: seen?.isFinal ? seen.at : null,
  stage: seen?.stage ?? null,
  source: seen?.source ?? (status === 'complained' ? 'arf' : null),
  reply: seen?.reply ?? null,
  registry: seen?.classification.registry ?? null,
  category: seen?.classification.category ?? (status === 'complained' ? ('complaint' as const) : null),
  bounce: seen?.isFinal ? seen.classification.bounce : null,
  provider: seen?.classification.provider ?? null,
  providerLink: seen?.classification.providerLink ?? null,
})

const faultTexts: Readonly<Record<Fault, string>> = {
  address: 'The cause is the address.',
  sender: 'The cause is the configuration of the sender, not the address.',
  reputation: 'The cause is the reputation of the sending IP address or domain, not the recipient.',
  content: 'The cause is the message, not the address.',
  receiver: 'The cause is the receiving server.',
  unclear: 'The cause is uncertain.',
}

function ofRefusal(seen: RefusalSeen, { trace }: TraceDetails, related: Related): { reason: string; actions: readonly string[] } {
  const { classification, report, isFinal } = seen
  const due = dueAt(trace)
  const next = due === null ? 'it is retried' : `it is retried at ${textOf(due)}`
  const sentences = [
    ...(report?.isUnverified ? ['The report is unverified and had no effect.'] : []),
    ...(isFinal || report?.isUnverified ? [] : [`It has not bounced: ${report ? 'the next server retries it' : next}.`]),
    faultTexts[classification.fault],
    classification.reason,
    ...trend(seen, related),
  ]
  return { reason: sentences.join(' '), actions: classification.nextActions }
}

function trend({ reply }: RefusalSeen, { sameReplyLast24h: same, isComplete }: Related): string[] {
  if (!reply || reply.text === '') return []
  if (same === 0) return isComplete ? ['No other message got this reply in the last 24 hours.'] : []
  return [`${isComplete ? '' : 'At least '}${same} other ${same === 1 ? 'message' : 'messages'} got the same reply in the last 24 hours.`]
}

const otherTexts: Partial<Record<TraceRecipient['status'], string>> = {
  queued: 'It has not bounced: no server has refused it yet.',
  sent: 'It has not bounced: the next server accepted it, and no report has been received since.',
  delivered: 'It has not bounced: it was reported as delivered.',
  captured: 'It has not bounced: it was captured and never sent.',
  suppressed: 'It has not bounced: this recipient is suppressed, so it was never sent.',
  canceled: 'It has not bounced: it was canceled before sending.',
  complained: 'It has not bounced: it was delivered, and the recipient reported it as spam.',
}

const optedOut = 'It has not bounced: it was never sent to this recipient, who unsubscribed from its list.'

function ofOther(
  { address, status, suppression }: TraceRecipient,
  { trace }: TraceDetails,
): { reason: string; actions: readonly string[] } {
  const byStatus = otherTexts[status] ?? 'Delivery was abandoned without a reply from any server; its timeline states why.'
  const reason = suppression?.source === 'unsubscribe' ? optedOut : byStatus
  if (status === 'complained')
    return { reason, actions: ['Do not send to this recipient again, and find out how the address got onto your list.'] }
  return {
    reason,
    actions: [`Call GET /v1/diagnose/missing?recipient=${encodeURIComponent(address)}, or read the timeline of the trace ${trace.id}.`],
  }
}

function suppressActions({ recommended, done, reason }: BounceDiagnosis['suppress'], { address }: TraceRecipient): string[] {
  if (done) return [`${address} is suppressed, so no mail is sent to it; remove the suppression once the address is correct.`]
  if (!recommended) return []
  return [`Suppress ${address}. ${reason ?? ''}`.trim()]
}

const maxShown = 10

function otherFailures({ trace }: TraceDetails, { address: diagnosed }: TraceRecipient): string[] {
  const others = trace.recipients.filter(({ address, status }) => address !== diagnosed && (status === 'bounced' || status === 'failed'))
  if (others.length === 0) return []
  const names = others.slice(0, maxShown).map(({ address }) => address)
  return [
    `${others.length} more of its recipients failed; repeat the request with recipient= for ${names.join(', ')}${others.length > maxShown ? ' …' : ''}.`,
  ]
}

async function senderRecords(
  options: LookUpOptions,
  { trace }: TraceDetails,
  recipient: TraceRecipient,
  seen: RefusalSeen | undefined,
): Promise<string[]> {
  if (!seen) return []
  const records = recordsOf(seen, trace, recipient)
  const unsigned = isUnsigned(records, seen.classification, trace)
    ? ['The message was not signed with DKIM: add its domain under /v1/domains.']
    : []
  return [...(await presentValues(options, records)), ...unsigned]
}

type Retry = BounceDiagnosis['retry']

const corrected: Retry = { useful: false, when: 'only once the address is correct' }
const repaired: Retry = { useful: false, when: 'once the configuration is corrected' }
const rewritten: Retry = { useful: false, when: 'with a different message' }
const unblocked: Retry = { useful: false, when: 'once the cause is removed and the block is lifted' }
const anotherDay: Retry = { useful: true, when: 'on another day' }
const later: Retry = { useful: true, when: 'later' }

const retries: Readonly<Record<RefusalCategory, Retry>> = {
  recipient_unknown: corrected,
  recipient_syntax: corrected,
  recipient_moved: corrected,
  recipient: corrected,
  mailbox_disabled: corrected,
  domain: corrected,
  sender: repaired,
  authentication: repaired,
  auth_client: repaired,
  tls: repaired,
  routing: repaired,
  protocol: repaired,
  content: rewritten,
  size: rewritten,
  reputation: unblocked,
  policy: unblocked,
  mailbox_full: anotherDay,
  mailbox: anotherDay,
  rate: { useful: true, when: 'after an hour, and more slowly' },
  greylisting: { useful: true, when: 'after 5 to 15 minutes, from the same address' },
  system: later,
  network: later,
  expired: later,
  success: later,
  undetermined: later,
}

/** Returns whether another send can succeed, and when. */
function retryOf(seen: RefusalSeen | undefined, trace: Trace): Retry {
  const due = dueAt(trace)
  if (due !== null) return { useful: true, when: `automatically at ${textOf(due)}` }
  if (trace.held) return { useful: false, when: 'when it is released from its hold in the queue' }
  return seen ? retries[seen.classification.category] : { useful: false, when: null }
}
