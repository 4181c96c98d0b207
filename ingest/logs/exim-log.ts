/** Converts Exim's main log to feedback events. A final failure has its own line, so deferred recipients are not remembered. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { eventKey, feedbackEvent, replyIn, statusFor } from '../events/feedback-event.ts'
import { eximHeader, readEximText, type EximDelivery, type EximLine } from './exim-line.ts'
import { isFilter, isNear, isOurReply } from './hand-over.ts'
import { messageIdOf, returnPathOf, SessionLog, type SessionDraft } from './session-log.ts'
import { timeOf } from './shipped-record.ts'

export const eximLog = new SessionLog<EximLine>({
  name: 'Exim',
  ownHeader: eximHeader,
  readText: readEximText,
  idBehindFilter: ({ fact }) => (fact.kind === 'delivery' ? idBehindFilter(fact.delivery) : undefined),
  learn({ fact }, draft) {
    if (fact.kind === 'completed') draft.isGone = true
    else if (fact.kind === 'accepted') {
      draft.returnPath = returnPathOf(fact.from)
      draft.messageId = messageIdOf(fact.messageId)
    }
  },
  eventsOf(line, draft, cameBack) {
    if (line.fact.kind !== 'delivery' || cameBack || movesOn(line.fact.delivery)) return []
    return [deliveryEvent(line, line.fact.delivery, draft)]
  },
  isDelivery: ({ fact }) => fact.kind === 'delivery',
})

function deliveryEvent(line: EximLine, delivery: EximDelivery, { returnPath, messageId }: SessionDraft): FeedbackEvent {
  const { to, originalTo, remoteMta, remoteIp, transport } = delivery
  const outcome = delivery.outcome === 'discarded' ? 'delivered' : delivery.outcome
  const { reply, ...peer } = saidBy(delivery)
  const { smtpCode, status } = replyIn(reply)
  const repeated = outcome === 'deferred' ? [line.stamp, transport, reply] : []
  return feedbackEvent({
    format: 'exim',
    type: outcome,
    key: eventKey(['exim.v1', line.host.toLowerCase(), line.queueId, to, originalTo, outcome, ...repeated]),
    occurredAt: timeOf(line.time),
    recipient: to,
    originalRecipient: originalTo,
    action: outcome === 'bounced' ? 'failed' : outcome === 'deferred' ? 'delayed' : remoteIp === null ? 'delivered' : 'relayed',
    smtpCode,
    status: status ?? (smtpCode === null ? expiryStatus(outcome, reply) : statusFor(smtpCode, reply)),
    diagnostic: reply,
    remoteMta: peer.remoteMta ?? remoteMta,
    remoteIp: peer.remoteIp ?? remoteIp,
    reportingMta: line.host || null,
    clues: {
      returnPaths: returnPath === null ? [] : [returnPath],
      messageIds: messageId === null ? [] : [messageId],
      queueIds: [line.queueId],
    },
  })
}

/** X.4.7 means that the delivery time expired (RFC 3463 §3.5). */
const expiryStatus = (outcome: string, reply: string): string | null =>
  outcome === 'bounced' && /\bretry timeout exceeded\b|\bretry time not reached\b.*\btoo long\b|\btimed? ?out\b/i.test(reply)
    ? '4.4.7'
    : null

const frame =
  /^(?:SMTP|LMTP) error from remote mail server after [^:]{1,60}(?::<[^>]{0,320}>[^:]{0,120})?: (?:host (\S{1,255}) \[([\da-fA-F.:]{2,45})\]: )?/

/** The server's reply without Exim's prefix, and the server if the prefix names it. */
function saidBy({ reply }: EximDelivery): Pick<EximDelivery, 'reply' | 'remoteMta' | 'remoteIp'> {
  const [head = '', remoteMta = null, remoteIp = null] = frame.exec(reply.slice(0, 1000)) ?? []
  return { reply: reply.slice(head.length), remoteMta, remoteIp }
}

/** A delivery line that is not a final delivery: discarded mail, and mail for a content filter or this service. */
const movesOn = ({ outcome, transport, reply }: EximDelivery): boolean =>
  outcome === 'discarded' || (outcome === 'delivered' && (isFilter(transport) || isOurReply(reply)))

/** The queue ID in a filter's reply. A filter returns the message to the same Exim, whose later lines contain the outcome. */
const idBehindFilter = ({ outcome, remoteIp, reply }: EximDelivery): string | undefined =>
  outcome === 'delivered' && remoteIp !== null && isNear(remoteIp) ? /\bid=([0-9A-Za-z-]{16,23})\b/.exec(reply)?.[1] : undefined
