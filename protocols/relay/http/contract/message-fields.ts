/**
 * Converts the message of a request to fields, for vendors without MIME. Only recipients of the request appear. Recipients that are not in
 * the header never see each other.
 */
import { foldAddress, parseAddress } from '#core/addresses.ts'
import type { MessageParts } from '#ingest/mime/message-parts.ts'
import type { MessageFields, NamedAddress } from './vendor.ts'

/** The fields, and the recipients that a request with them reaches. */
export interface Addressed {
  readonly fields: MessageFields
  readonly reached: readonly string[]
}

/** Header fields that the vendor creates, or that describe the original form of the message. */
const notKept = new Set(
  ['from', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'mime-version', 'received', 'return-path', 'dkim-signature'].concat([
    ...['sender', 'delivered-to', 'arc-seal', 'arc-message-signature', 'arc-authentication-results', 'authentication-results'],
  ]),
)

/** Returns the fields for the recipients of a request. `recipients` is not empty. */
export function addressed(parts: MessageParts, mailFrom: string, recipients: readonly string[]): Addressed {
  const left = new Map(recipients.map((address) => [foldAddress(address), address]))
  const taken = (list: MessageParts['to']): NamedAddress[] =>
    list.flatMap(({ address, name }) => {
      const folded = foldAddress(parseAddress(address)?.address ?? address)
      const recipient = left.get(folded)
      left.delete(folded)
      return recipient === undefined ? [] : [{ name, address: recipient }]
    })
  const to = taken(parts.to)
  const cc = taken(parts.cc)
  const others = [...left.values()].map((address) => ({ name: '', address }))
  const first = others[0]
  if (to.length + cc.length === 0 && first) return { fields: fieldsOf(parts, mailFrom, [first], [], []), reached: [first.address] }
  const [named, copies] = to.length > 0 ? [to, cc] : [cc, []]
  return { fields: fieldsOf(parts, mailFrom, named, copies, others), reached: recipients }
}

function fieldsOf(
  parts: MessageParts,
  mailFrom: string,
  to: readonly NamedAddress[],
  cc: readonly NamedAddress[],
  bcc: readonly NamedAddress[],
): MessageFields {
  const from = parts.from.find(({ address }) => address !== '')
  return {
    from: from ?? { name: '', address: mailFrom },
    ...{ to, cc, bcc },
    replyTo: parts.replyTo.filter(({ address }) => address !== ''),
    subject: parts.subject,
    // an empty text counts as missing, because most vendors refuse it
    text: parts.text || undefined,
    html: parts.html || undefined,
    headers: parts.headers.filter(({ name }) => !notKept.has(name.toLowerCase()) && !/^content-/i.test(name)),
    attachments: parts.attachments.map((part) => ({ ...part, content: Buffer.from(part.content.buffer) })),
  }
}
