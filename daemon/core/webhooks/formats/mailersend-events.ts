/** Events in the format of MailerSend: an activity with its message, signed with an HMAC of the body in `Signature`. */
import { createHmac } from 'node:crypto'
import { answeredId, failureOf, isoTime, messageEvents, type Format, type FormatEndpoint, type FormatEvent } from './format.ts'

export const mailersend: Format = {
  says: messageEvents,
  write(event, endpoint) {
    const body = JSON.stringify(said(event, endpoint))
    return { body, headers: { signature: createHmac('sha256', endpoint.secret).update(body).digest('hex') } }
  },
}

function said(event: FormatEvent, { id, url }: FormatEndpoint): object {
  const { data, message } = event
  const [type, morph] = kindOf(event)
  const acceptedAt = isoTime(message.acceptedAt)
  return {
    type: `activity.${type}`,
    ...{ domain_id: data.project_id, created_at: isoTime(event.createdAt), webhook_id: id, url },
    data: {
      ...{ object: 'activity', id: event.id, type, created_at: isoTime(event.occurredAt) },
      email: {
        ...{ object: 'email', id: `${data.trace_id}/${data.recipient}`, created_at: acceptedAt, from: message.from },
        ...{ subject: message.subject, status: type === 'delivered' ? 'delivered' : 'rejected' },
        tags: data.tags.length > 0 ? data.tags : null,
        message: { object: 'message', id: answeredId(event), created_at: acceptedAt },
        recipient: { object: 'recipient', id: data.recipient, email: data.recipient, created_at: acceptedAt },
      },
      ...{ morph, template_id: '' },
    },
  }
}

function kindOf(event: FormatEvent): readonly [string, object | null] {
  const { type, data } = event
  if (type === 'delivered') return ['delivered', null]
  if (type === 'complained') return ['spam_complaint', { object: 'spam_complaint', reason: data.complaint?.feedback_type ?? null }]
  const { kind, text } = failureOf(event)
  return [kind === 'hard' ? 'hard_bounced' : 'soft_bounced', { object: 'recipient_bounce', reason: text }]
}
