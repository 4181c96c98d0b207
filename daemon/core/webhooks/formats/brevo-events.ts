/** Events in the format of Brevo's transactional webhooks: one flat object without a signature in its format. */
import { failureOf, messageEvents, numberOf, seconds, wrappedId, type Format, type FormatEvent } from './format.ts'

const bounces = { hard: 'hard_bounce', soft: 'soft_bounce', block: 'blocked' } as const

/** Header with custom data. Also the metadata name for a value that is not a JSON object of strings. */
const customField = 'X-Mailin-custom'

export const brevo: Format = {
  says: messageEvents,
  write(event, endpoint) {
    const { data, message, occurredAt } = event
    const body = {
      ...eventOf(event),
      ...{ email: data.recipient, id: numberOf(endpoint.id), 'message-id': `<${wrappedId(event, endpoint)}>` },
      ...{ date: new Date(occurredAt).toISOString().slice(0, 19).replace('T', ' ') },
      ...{ ts: seconds(occurredAt), ts_event: seconds(occurredAt), ts_epoch: occurredAt },
      ...{ subject: message.subject, sender_email: message.from, tags: data.tags },
      ...(data.tags.length > 0 && { tag: JSON.stringify(data.tags) }),
      ...customOf(data.metadata),
    }
    return { body: JSON.stringify(body) }
  },
}

/** Returns the custom value of the request unchanged; otherwise the metadata as JSON. */
function customOf(metadata: FormatEvent['data']['metadata']): Readonly<Record<string, string>> {
  const custom = metadata[customField] ?? (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined)
  return custom === undefined ? {} : { [customField]: custom }
}

function eventOf(event: FormatEvent): { readonly event: string; readonly reason?: string } {
  const { type, data } = event
  if (type === 'delivered') return { event: 'delivered' }
  if (type === 'complained') return { event: 'spam' }
  const { kind, text } = failureOf(event)
  return { event: type === 'failed' && !data.bounce ? 'error' : bounces[kind], reason: text }
}
