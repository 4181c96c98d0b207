/** Events in the format of SparkPost: a batch with one event, without a signature in its format. */
import { answeredId, domainOf, failureOf, isoTime, messageEvents, seconds, type Failure, type Format, type FormatEvent } from './format.ts'

/** SparkPost's bounce classes by failure category. Other categories use the class of their bounce kind. */
const classes: Readonly<Record<string, string>> = {
  ...{ recipient_unknown: '10', recipient_syntax: '10', recipient_moved: '10', recipient: '10', mailbox_disabled: '10' },
  ...{ domain: '21', mailbox_full: '22', size: '23', expired: '24', reputation: '51', content: '52' },
  ...{ policy: '50', rate: '50', authentication: '50', sender: '50', auth_client: '54', routing: '54' },
}
const otherwise = { hard: '30', soft: '20', block: '50' } as const

const bounceClass = ({ kind, category }: Failure): string => {
  const known = classes[category] ?? otherwise[kind]
  return kind === 'hard' && !['10', '30'].includes(known) ? '30' : kind !== 'hard' && known === '10' ? otherwise[kind] : known
}

export const sparkpost: Format = {
  says: messageEvents,
  write: (event) => ({
    body: JSON.stringify([{ msys: { message_event: said(event) } }]),
    headers: { 'x-messagesystems-batch-id': event.deliveryId },
  }),
}

function said(event: FormatEvent): object {
  const { id, type, occurredAt, data, message } = event
  const common = {
    ...{ event_id: id, timestamp: String(seconds(occurredAt)), injection_time: isoTime(message.acceptedAt) },
    ...{ message_id: data.trace_id, transmission_id: answeredId(event), rcpt_to: data.recipient, raw_rcpt_to: data.recipient },
    ...{ recipient_domain: domainOf(data.recipient), routing_domain: domainOf(data.recipient), delv_method: 'esmtp' },
    ...{ rcpt_meta: data.metadata, rcpt_tags: data.tags, ...(data.tags[0] !== undefined && { campaign_id: data.tags[0] }) },
    ...{ friendly_from: message.from, msg_from: message.mailFrom, subject: message.subject },
  }
  if (type === 'delivered') return { type: 'delivery', ...common }
  if (type === 'complained')
    return { type: 'spam_complaint', ...common, fbtype: data.complaint?.feedback_type ?? 'abuse', user_str: data.reason ?? '' }
  const failure = failureOf(event)
  return {
    type: 'bounce',
    ...common,
    bounce_class: bounceClass(failure),
    ...(failure.code !== undefined && { error_code: String(failure.code) }),
    ...{ reason: failure.text, raw_reason: failure.text },
  }
}
