/** The webhook body of an inbound route. One schema writes the body and describes it in the OpenAPI document. Spec "Inbound routes". */
import * as z from 'zod'
import { readingNoteCodes, type ReadAddress, type ReadMessage } from '../capture/reading/message-reader.ts'
import type { Authentication } from './authentication.ts'
import type { LinkedPart } from './mail-links.ts'
import type { InboundMessage } from './inbound-message.ts'

const address = z.object({ address: z.string(), name: z.string() })
const result = z.string().meta({ description: 'A result of RFC 8601; `temperror` when the DNS lookup timed out.' })
const domain = z.string().nullable()

export const authenticationShape = z
  .object({
    spf: z.object({ result, domain }),
    dkim: z.array(z.object({ result, domain, selector: z.string().nullable() })).meta({ description: 'One result per signature.' }),
    dmarc: z.object({ result, domain, policy: z.string().nullable() }),
    arc: z.object({ result }),
  })
  .meta({ id: 'InboundAuthentication' })

export const headersShape = z.array(z.object({ name: z.string(), value: z.string() }))

export const readingNotesShape = z.array(z.object({ code: z.enum(readingNoteCodes), message: z.string() })).meta({
  description: 'Parts of the message that the parser omitted, guessed or could not decode; empty for most messages.',
})

export const filesShape = z.array(
  z.object({
    filename: z.string(),
    content_type: z.string(),
    size: z.int(),
    content_id: z.string().nullable(),
    inline: z.boolean(),
    from_tnef: z.boolean().meta({ description: 'The file is inside a winmail.dat container, which is listed too.' }),
    url: z.string(),
  }),
)

const dataShape = z
  .object({
    id: z.string().meta({ description: 'The message, as listed under its route.' }),
    route_id: z.string(),
    project_id: z.string(),
    received_at: z.string(),
    envelope: z.object({
      from: z
        .string()
        .meta({ description: 'Reverse-path; empty for reports and other automatic replies, which must never be replied to.' }),
      to: z.array(z.string()).meta({ description: 'The recipients that the route accepted.' }),
      remote_address: z.string(),
      helo: z.string(),
      tls: z.boolean(),
    }),
    authentication: authenticationShape,
    unreadable: z
      .string()
      .nullable()
      .meta({ description: 'Why the message could not be parsed. All further fields except the raw message are then empty.' }),
    from: z.array(address),
    to: z.array(address),
    cc: z.array(address),
    reply_to: z.array(address),
    subject: z.string(),
    date: z.string().nullable(),
    message_id: z.string().nullable().meta({ description: 'As in the header of the message.' }),
    text: z.string(),
    html: z
      .string()
      .meta({ description: 'Sanitized: without scripts, forms and remote content; without embedded pictures if too long with them.' }),
    is_truncated: z
      .boolean()
      .meta({ description: 'True if text, HTML, style rules, headers or files were cut at a limit; the raw message is complete.' }),
    reading_notes: readingNotesShape,
    headers: headersShape,
    attachments: filesShape,
    raw_size: z.int(),
    raw_url: z.string().meta({ description: 'The message as received, preceded by the header fields of this service.' }),
    links_expire_at: z
      .string()
      .meta({ description: 'When the links of this body expire. Until then they need no key; afterwards use the API.' }),
  })
  .meta({ id: 'InboundMessageEventData' })

export const inboundEventShape = z
  .object({
    id: z.string(),
    type: z.literal('inbound_message'),
    created_at: z.string(),
    test: z.literal(true).optional().meta({ description: 'Present only in test events.' }),
    data: dataShape,
  })
  .meta({ id: 'InboundMessageEvent' })

type Wire = z.input<typeof inboundEventShape>
type Reading = Pick<
  Wire['data'],
  | ('unreadable' | 'from' | 'to' | 'cc' | 'reply_to' | 'subject' | 'date' | 'message_id' | 'text' | 'html' | 'is_truncated')
  | ('reading_notes' | 'headers' | 'attachments')
>

/** Maximum characters of the text and of the HTML; receivers limit body sizes. */
const maxBody = 256 * 1024
const maxHeaders = 64 * 1024
const maxAttachments = 200

/** The parsed parts of a mail that a webhook receives. */
export type ReadMail = Pick<
  ReadMessage,
  'subject' | 'from' | 'to' | 'cc' | 'replyTo' | 'messageId' | 'date' | 'headers' | 'text' | 'html' | 'attachments' | 'notes'
>

export interface InboundEvent {
  readonly eventId: string
  readonly at: number
  readonly message: Omit<InboundMessage, 'content' | 'prepared'> & { readonly content: Pick<InboundMessage['content'], 'size'> }
  readonly read: { readonly ok: true; readonly message: ReadMail } | { readonly ok: false; readonly unreadable: string }
  /** The mail is a test. */
  readonly isTest?: boolean
  readonly authentication: Authentication
  readonly urlOf: (part: LinkedPart) => string
  readonly linksExpireAt: number
}

/** Returns the exact text that is sent and signed in every attempt. */
export function inboundEventBody(event: InboundEvent): string {
  const { eventId, at, message, read, authentication, urlOf, linksExpireAt, isTest = false } = event
  const wire: Wire = {
    id: eventId,
    type: 'inbound_message',
    created_at: time(at),
    ...(isTest && { test: true as const }),
    data: {
      id: message.id,
      route_id: message.routeId,
      project_id: message.projectId,
      received_at: time(message.receivedAt),
      envelope: {
        from: message.mailFrom,
        to: [...message.recipients],
        remote_address: message.remoteAddress,
        helo: message.helo,
        tls: message.isEncrypted,
      },
      authentication: { ...authentication, dkim: [...authentication.dkim] },
      ...(read.ok ? readingOf(read.message, urlOf) : nothingOf(read.unreadable)),
      raw_size: message.prefix.length + message.content.size,
      raw_url: urlOf('raw'),
      links_expire_at: time(linksExpireAt),
    },
  }
  return JSON.stringify(wire)
}

const time = (ms: number): string => new Date(ms).toISOString()

function readingOf(message: ReadMail, urlOf: (part: LinkedPart) => string): Reading {
  const headers = fitting(message.headers)
  const html = message.html.length > maxBody ? withoutPictures(message.html) : message.html
  const isShortened = message.text.length > maxBody || html.length < message.html.length || headers.length < message.headers.length
  return {
    unreadable: null,
    from: plain(message.from),
    to: plain(message.to),
    cc: plain(message.cc),
    reply_to: plain(message.replyTo),
    subject: message.subject,
    date: message.date ?? null,
    message_id: message.messageId ?? null,
    text: message.text.slice(0, maxBody).toWellFormed(),
    html,
    is_truncated: isShortened || message.attachments.length > maxAttachments || message.notes.some(isCut),
    reading_notes: message.notes.map(({ code, sentence }) => ({ code, message: sentence })),
    headers,
    attachments: message.attachments.slice(0, maxAttachments).map(({ filename, contentType, size, contentId, inline, fromTnef }, index) => {
      return { filename, content_type: contentType, size, content_id: contentId ?? null, inline, from_tnef: fromTnef, url: urlOf(index) }
    }),
  }
}

/** Note codes for content that the reader omitted. */
const isCut = ({ code }: ReadMail['notes'][number]): boolean => code.endsWith('_cut')

/** Returns HTML without `data:` images. Returns an empty string if that is still too long, because a cut would leave elements open. */
function withoutPictures(html: string): string {
  const shorter = html.replaceAll(/<[a-z][^<>]*>/g, (tag) => tag.replace(/ src="data:[^"]*"/, ''))
  return shorter.length > maxBody ? '' : shorter
}

const nothingOf = (unreadable: string): Reading => ({
  ...{ unreadable, from: [], to: [], cc: [], reply_to: [], subject: '', date: null, message_id: null },
  ...{ text: '', html: '', is_truncated: false, reading_notes: [], headers: [], attachments: [] },
})

const plain = (addresses: readonly ReadAddress[]): ReadAddress[] => addresses.map(({ address, name }) => ({ address, name }))

/** Returns header fields up to the size limit. */
function fitting(headers: readonly { readonly name: string; readonly value: string }[]): { name: string; value: string }[] {
  let room = maxHeaders
  return headers.filter(({ name, value }) => (room -= name.length + value.length) >= 0).map(({ name, value }) => ({ name, value }))
}
