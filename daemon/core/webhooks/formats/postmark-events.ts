/** Events in the format of Postmark: one record with a `RecordType`, without a signature in its format. */
import { allEvents, failureOf, isoTime, numberOf, type Failure, type Format, type FormatEvent, type FormatEndpoint } from './format.ts'

/** Postmark's bounce types with their codes and names. */
const types = {
  HardBounce: [1, 'Hard bounce'],
  DnsError: [256, 'DNS error'],
  SoftBounce: [4096, 'Soft bounce'],
  Blocked: [100_006, 'ISP block'],
  SpamComplaint: [100_001, 'Spam complaint'],
} as const

function typeOf({ kind, category }: Failure): keyof typeof types {
  if (kind === 'hard') return 'HardBounce'
  if (kind === 'block') return 'Blocked'
  return category === 'domain' || category === 'routing' ? 'DnsError' : 'SoftBounce'
}

export const postmark: Format = { says: allEvents, write: (event, endpoint) => ({ body: JSON.stringify(said(event, endpoint)) }) }

function said(event: FormatEvent, endpoint: FormatEndpoint): object {
  const { type, data, occurredAt } = event
  const { MessageStream = 'outbound', ...Metadata } = data.metadata
  const common = {
    ...{ MessageID: data.trace_id, ServerID: numberOf(endpoint.id), MessageStream },
    ...{ Tag: data.tags[0] ?? '', Metadata },
  }
  if (type === 'delivered') {
    const details = { Recipient: data.recipient, DeliveredAt: isoTime(occurredAt), Details: data.reply?.text ?? data.reason ?? '' }
    return { RecordType: 'Delivery', ...common, ...details }
  }
  if (type === 'auto_suppressed') {
    return {
      RecordType: 'SubscriptionChange',
      ...common,
      ...{ ChangedAt: isoTime(occurredAt), Recipient: data.recipient, Origin: 'Recipient', SuppressSending: true },
      SuppressionReason: data.status === 'complained' ? 'SpamComplaint' : 'HardBounce',
    }
  }
  const isComplaint = type === 'complained'
  const { text, ...failure } = failureOf(event)
  const name = isComplaint ? 'SpamComplaint' : typeOf({ text, ...failure })
  const [code, title] = types[name]
  return {
    RecordType: isComplaint ? 'SpamComplaint' : 'Bounce',
    ...common,
    ...{ ID: numberOf(event.id), Type: name, TypeCode: code, Name: title },
    ...{ Description: data.reason ?? '', Details: isComplaint ? '' : text },
    ...{ Email: data.recipient, From: event.message.from, BouncedAt: isoTime(occurredAt), Subject: event.message.subject },
    ...{ DumpAvailable: false, Inactive: name === 'HardBounce' || isComplaint, CanActivate: name === 'HardBounce', Content: '' },
  }
}
