/** Interprets a delivery line of Postfix: a local delivery, a hand-over within the host, or the reply of the next host. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { eventKey, feedbackEvent, replyIn, statusFor } from '../events/feedback-event.ts'
import { isFilter, isNear, isOurReply } from './hand-over.ts'
import type { DeferredRecipient, LogSession } from './log-group.ts'
import type { PostfixDelivery, PostfixLine } from './postfix-line.ts'
import { timeOf } from './shipped-record.ts'

/**
 * Every status of Postfix's delivery agents. With `soft_bounce`, Postfix defers instead of bouncing. `null`: probes, which contain no mail.
 */
const meanings = {
  ...{ sent: 'delivered', bounced: 'bounced', deferred: 'deferred', SOFTBOUNCE: 'deferred' },
  ...{ deliverable: null, undeliverable: null },
} as const satisfies Record<string, FeedbackEvent['type'] | null>

/** Returns the event type of a delivery status: null for probes, undefined if the status is unknown. */
export const meaningOf = (status: string): FeedbackEvent['type'] | null | undefined =>
  Object.hasOwn(meanings, status) ? meanings[status as keyof typeof meanings] : undefined

/** The event of a delivery line. Undefined for probes and for hand-overs. */
export function deliveryEvent(line: PostfixLine, delivery: PostfixDelivery, session: LogSession): FeedbackEvent | undefined {
  const { status, reply, to } = delivery
  const type = meaningOf(status)
  if (!type || (status === 'sent' && movesOn(line.service, delivery))) return undefined
  const { smtpCode, status: replied } = replyIn(reply)
  return feedbackEvent({
    ...shared(line, session),
    type,
    key: eventKey(['postfix.v1', line.host.toLowerCase(), line.queueId, to, delivery.originalTo, status, delivery.dsn, delivery.delay]),
    ...recipients(delivery),
    action:
      status === 'sent' ? (isFinal(line.service, delivery.relay) ? 'delivered' : 'relayed') : status === 'bounced' ? 'failed' : 'delayed',
    status: statusOf(delivery.dsn) ?? replied ?? (smtpCode === null ? null : statusFor(smtpCode, reply)),
    smtpCode,
    diagnostic: diagnosticOf(delivery),
    ...peerOf(delivery),
  })
}

/** The bounce event of a recipient that was deferred when the message expired (RFC 3463 §3.5, X.4.7). */
export function expiredEvent(line: PostfixLine, waiting: DeferredRecipient, session: LogSession): FeedbackEvent {
  return feedbackEvent({
    ...shared(line, session),
    type: 'bounced',
    key: eventKey(['postfix.v1', line.host.toLowerCase(), line.queueId, waiting.recipient, 'expired']),
    recipient: waiting.recipient,
    originalRecipient: waiting.originalRecipient,
    action: 'failed',
    status: '4.4.7',
    diagnostic: `delivery time expired${waiting.diagnostic === null ? '' : `; last reason: ${waiting.diagnostic}`}`,
    remoteMta: waiting.remoteMta,
    remoteIp: waiting.remoteIp,
  })
}

/** The state to remember for a deferred recipient. */
export function waitingRecipient(delivery: PostfixDelivery): DeferredRecipient {
  const { recipient, originalRecipient } = recipients(delivery)
  return { recipient, originalRecipient, diagnostic: diagnosticOf(delivery).slice(0, 500) || null, ...peerOf(delivery) }
}

const shared = (line: PostfixLine, session: LogSession): Pick<FeedbackEvent, 'format' | 'occurredAt' | 'reportingMta'> & WithEvidence => ({
  format: 'postfix',
  occurredAt: timeOf(line.time),
  reportingMta: line.host || null,
  clues: {
    returnPaths: session.returnPath === null ? [] : [session.returnPath],
    messageIds: session.messageId === null ? [] : [session.messageId],
    queueIds: [line.queueId],
  },
})
interface WithEvidence {
  readonly clues: Partial<FeedbackEvent['clues']>
}

const recipients = ({ to, originalTo }: PostfixDelivery): { readonly recipient: string; readonly originalRecipient: string | null } => ({
  recipient: to,
  originalRecipient: originalTo === to ? null : originalTo,
})

const localServices: ReadonlySet<string> = new Set(['local', 'virtual', 'pipe', 'lmtp'])
const isFinal = (service: string, relay: string): boolean => localServices.has(service) || localServices.has(relay)

/** Recognizes `sent` without a final delivery: to a content filter, along an alias, or to this service. */
function movesOn(service: string, { relay, reply }: PostfixDelivery): boolean {
  if (service === 'pipe' || relay === 'pipe') return isFilter(relay) || isFilter(/^delivered via (\S+)/.exec(reply)?.[1] ?? '')
  if (isFinal(service, relay) && reply.startsWith('forwarded as ')) return true
  return isOurReply(reply) || / from MTA\(/.test(reply)
}

/**
 * The queue ID in the reply of a host in the local network. A filter returns the message to the same Postfix, whose later lines contain the
 * outcome.
 */
export function idBehindFilter({ status, relay, reply }: PostfixDelivery): string | undefined {
  return status === 'sent' && isNear(/\[([^\]]*)/.exec(relay)?.[1] ?? '') ? /\bqueued as ([0-9A-Za-z]{6,20})\b/.exec(reply)?.[1] : undefined
}

const statusOf = (dsn: string | null): string | null => (dsn !== null && /^[245]\.\d{1,3}\.\d{1,3}$/.test(dsn) ? dsn : null)

const said = /^host (\S{1,255})\[([\da-fA-F.:]{2,45})\] (?:said|refused to talk to me): /
/** The server's reply without Postfix's prefix and suffix. */
function diagnosticOf({ reply }: PostfixDelivery): string {
  const head = said.exec(reply)?.[0]
  return head === undefined ? reply : reply.slice(head.length).replace(/ \(in reply to [^()]{1,60}\)$/, '')
}

const relayForm = /^([^[\s]{1,255})\[([\da-fA-F.:]{2,45})\]/
function peerOf({ relay, reply }: PostfixDelivery): { readonly remoteMta: string | null; readonly remoteIp: string | null } {
  const [, remoteMta = null, remoteIp = null] = said.exec(reply) ?? relayForm.exec(relay) ?? []
  return { remoteMta, remoteIp }
}
