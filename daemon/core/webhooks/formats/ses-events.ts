/** Events in the format of Amazon SES over SNS: the record is a string inside an SNS notification. */
import { failureOf, isoTime, messageEvents, type Failure, type Format, type FormatEvent } from './format.ts'
import { snsMessage } from './sns-message.ts'

const subTypes: Readonly<Record<string, string>> = {
  ...{ recipient_unknown: 'NoEmail', recipient_syntax: 'NoEmail', mailbox_full: 'MailboxFull' },
  ...{ size: 'MessageTooLarge', content: 'ContentRejected' },
}

/** Subtypes that a permanent bounce can have. */
const permanent = ['General', 'NoEmail']

function bounceTypes({ kind, category }: Failure): { readonly bounceType: string; readonly bounceSubType: string } {
  const subType = subTypes[category] ?? 'General'
  if (kind === 'hard') return { bounceType: 'Permanent', bounceSubType: permanent.includes(subType) ? subType : 'General' }
  return { bounceType: 'Transient', bounceSubType: subType === 'NoEmail' ? 'General' : subType }
}

export const ses: Format = {
  says: new Set([...messageEvents, 'subscription_confirmation']),
  write: (event, endpoint) =>
    snsMessage(
      { Type: 'Notification', Subject: 'Amazon SES Email Event Notification', Message: JSON.stringify(said(event)) },
      event.deliveryId,
      endpoint,
    ),
}

/**
 * Returns the record with both names that SES uses: `notificationType` for identity notifications and `eventType` for configuration sets.
 */
function said(event: FormatEvent): object {
  const { name, ...record } = recordOf(event)
  return { notificationType: name, eventType: name, mail: mailOf(event), ...record }
}

function recordOf(event: FormatEvent): { readonly name: string } {
  const { id, type, occurredAt, data, message } = event
  const timestamp = isoTime(occurredAt)
  const { recipient } = data
  if (type === 'delivered') {
    const processingTimeMillis = Math.max(0, occurredAt - message.acceptedAt)
    const smtpResponse = data.reply ? `${String(data.reply.code)} ${data.reply.text}` : (data.reason ?? '')
    return named('Delivery', { delivery: { timestamp, processingTimeMillis, recipients: [recipient], smtpResponse } })
  }
  if (type === 'complained') {
    const complaint = {
      ...{ complainedRecipients: [{ emailAddress: recipient }], timestamp, feedbackId: id, complaintSubType: null },
      ...(data.complaint?.feedback_type && { complaintFeedbackType: data.complaint.feedback_type }),
    }
    return named('Complaint', { complaint })
  }
  const failure = failureOf(event)
  const bounced = {
    ...{ emailAddress: recipient, action: 'failed', diagnosticCode: `smtp; ${failure.text}` },
    ...(failure.status !== undefined && { status: failure.status }),
  }
  const bounce = {
    ...{ ...bounceTypes(failure), bouncedRecipients: [bounced], timestamp, feedbackId: id },
    ...(failure.server !== undefined && { reportingMTA: `dns; ${failure.server}` }),
  }
  return named('Bounce', { bounce })
}

const named = (name: string, record: object): { readonly name: string } => ({ name, ...record })

function mailOf({ data, message }: FormatEvent): object {
  const { from, mailFrom, subject, acceptedAt } = message
  const headers = { from: [from], to: [data.recipient], messageId: `<${data.message_id}>`, subject }
  return {
    ...{ timestamp: isoTime(acceptedAt), messageId: data.trace_id, source: mailFrom || from, destination: [data.recipient] },
    ...{ headersTruncated: false, commonHeaders: headers },
    headers: [
      ...[
        { name: 'From', value: from },
        { name: 'To', value: data.recipient },
        { name: 'Subject', value: subject },
      ],
      { name: 'Message-ID', value: `<${data.message_id}>` },
    ],
    tags: Object.fromEntries(Object.entries({ ...(data.tags.length > 0 && { tags: data.tags }), ...data.metadata }).map(listed)),
  }
}

const listed = ([name, value]: readonly [string, string | readonly string[]]): [string, readonly string[]] => [
  name,
  typeof value === 'string' ? [value] : value,
]
