/** Events in the format of SendGrid: an array, signed with ECDSA P-256 over the timestamp and the body. */
import { sign } from 'node:crypto'
import { answeredId, failureOf, messageEvents, seconds, type Format, type FormatEvent } from './format.ts'

/** SendGrid's bounce classifications by failure category. */
const classifications: Readonly<Record<string, string>> = {
  ...{ recipient_unknown: 'Invalid Address', recipient_syntax: 'Invalid Address', recipient_moved: 'Invalid Address' },
  ...{ recipient: 'Invalid Address', mailbox_disabled: 'Invalid Address', domain: 'Invalid Address' },
  ...{ mailbox_full: 'Mailbox Unavailable', mailbox: 'Mailbox Unavailable', greylisting: 'Mailbox Unavailable' },
  ...{ rate: 'Frequency or Volume Too High', reputation: 'Reputation', content: 'Content', size: 'Content', policy: 'Content' },
  ...{ system: 'Technical Failure', network: 'Technical Failure', routing: 'Technical Failure', tls: 'Technical Failure' },
}

export const sendgrid: Format = {
  says: messageEvents,
  write(event, { privateKey, at }) {
    const body = JSON.stringify([said(event)])
    const timestamp = String(seconds(at))
    return {
      body,
      headers: {
        'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64'),
        'x-twilio-email-event-webhook-timestamp': timestamp,
      },
    }
  },
}

/** Returns the event. Custom arguments are on the same level as event fields, which take precedence. */
function said(event: FormatEvent): object {
  const { id, type, occurredAt, data } = event
  const common = {
    ...data.metadata,
    ...{ email: data.recipient, timestamp: seconds(occurredAt), 'smtp-id': `<${data.message_id}>` },
    ...{ sg_event_id: id, sg_message_id: answeredId(event) },
    ...(data.tags.length > 0 && { category: data.tags }),
  }
  if (type === 'delivered') return { ...common, event: 'delivered', response: data.reply?.text ?? data.reason ?? '' }
  if (type === 'complained') return { ...common, event: 'spamreport' }
  const { kind, category, status, text } = failureOf(event)
  return {
    ...common,
    ...{ event: 'bounce', type: kind === 'hard' ? 'bounce' : 'blocked', reason: text },
    ...(status !== undefined && { status }),
    bounce_classification: classifications[category] ?? 'Unclassified',
  }
}
