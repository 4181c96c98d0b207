/** Events in the format of Mailjet's grouped events: an array with one event, without a signature in its format. */
import { failureOf, messageEvents, seconds, type Failure, type Format, type FormatEvent } from './format.ts'

/** Mailjet's `error_related_to` and `error` values by failure category. */
const errors: Readonly<Record<string, readonly [string, string]>> = {
  recipient_unknown: ['recipient', 'user unknown'],
  recipient_syntax: ['recipient', 'user unknown'],
  recipient_moved: ['recipient', 'user unknown'],
  recipient: ['recipient', 'user unknown'],
  mailbox_disabled: ['recipient', 'mailbox inactive'],
  mailbox_full: ['recipient', 'quota exceeded'],
  mailbox: ['recipient', 'mailbox inactive'],
  domain: ['domain', 'invalid domain'],
  routing: ['domain', 'relay/access denied'],
  rate: ['spam', 'sender blocked'],
  reputation: ['spam', 'sender blocked'],
  content: ['spam', 'content blocked'],
  size: ['spam', 'policy issue'],
  policy: ['spam', 'policy issue'],
  greylisting: ['domain', 'greylisted'],
  network: ['system', 'connection issue'],
  system: ['system', 'system issue'],
  protocol: ['system', 'protocol issue'],
}

const errorOf = ({ category }: Failure): readonly [string, string] => errors[category] ?? ['system', 'system issue']

export const mailjet: Format = { says: messageEvents, write: (event) => ({ body: JSON.stringify([said(event)]) }) }

function said(event: FormatEvent): object {
  const { type, occurredAt, data } = event
  const common = {
    ...{ time: seconds(occurredAt), email: data.recipient, MessageID: data.trace_id, Message_GUID: data.trace_id },
    ...{ mj_campaign_id: 0, mj_contact_id: 0, customcampaign: data.tags[0] ?? '' },
    ...{ CustomID: data.metadata['CustomID'] ?? '', Payload: data.metadata['EventPayload'] ?? '' },
  }
  if (type === 'delivered')
    return {
      event: 'sent',
      ...common,
      mj_message_id: data.trace_id,
      smtp_reply: data.reply ? `sent (${String(data.reply.code)} ${data.reply.text})` : 'sent',
    }
  if (type === 'complained') return { event: 'spam', ...common, source: data.complaint?.feedback_type ?? '' }
  const failure = failureOf(event)
  const [about, error] = errorOf(failure)
  const isHard = failure.kind === 'hard'
  return { event: 'bounce', ...common, blocked: isHard, hard_bounce: isHard, error_related_to: about, error, comment: failure.text }
}
