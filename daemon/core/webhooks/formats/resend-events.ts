/** Events in the format of Resend: `type` and `data`, with a Svix signature. */
import { allEvents, failureOf, isoTime, type Format, type FormatEvent } from './format.ts'
import { standardSignature } from '../sending/signature.ts'

const bounceTypes = { hard: 'Permanent', soft: 'Transient', block: 'Transient' } as const

const subTypes: Readonly<Record<string, string>> = {
  recipient_unknown: 'NoEmail',
  mailbox_full: 'MailboxFull',
  size: 'MessageTooLarge',
  content: 'ContentRejected',
}

export const resend: Format = {
  says: allEvents,
  write(event, { secret, at }) {
    const body = JSON.stringify({ ...said(event), created_at: isoTime(event.createdAt) })
    const { timestamp, signature } = standardSignature(secret, { deliveryId: event.deliveryId, at, body: Buffer.from(body) })
    return { body, headers: { 'svix-id': event.deliveryId, 'svix-timestamp': timestamp, 'svix-signature': signature } }
  },
}

function said(event: FormatEvent): { readonly type: string; readonly data: object } {
  const { type, data, message } = event
  if (type === 'auto_suppressed') return { type: 'suppression.added', data: suppressionOf(event) }
  const common = {
    created_at: isoTime(message.acceptedAt),
    email_id: data.trace_id,
    message_id: `<${data.message_id}>`,
    ...{ from: message.from, to: [data.recipient], subject: message.subject },
    tags: data.metadata,
  }
  if (type === 'delivered' || type === 'complained') return { type: `email.${type}`, data: common }
  const { kind, category, text } = failureOf(event)
  if (type === 'failed' && !data.bounce) return { type: 'email.failed', data: { ...common, failed: { reason: text } } }
  const bounce = { type: bounceTypes[kind], subType: subTypes[category] ?? 'General', message: text }
  return { type: 'email.bounced', data: { ...common, bounce } }
}

const suppressionOf = ({ id, createdAt, data }: FormatEvent): object => ({
  id: data.suppression?.id ?? id,
  email: data.recipient,
  origin: data.status === 'complained' ? 'complaint' : 'bounce',
  source_id: data.trace_id,
  created_at: isoTime(createdAt),
})
