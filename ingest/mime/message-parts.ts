/** Splits a message for providers without MIME: addresses, texts, attachments. Fails rather than lose content. */
import { safeFilename } from '#config/mail/file-names.ts'
import { addressList, type ListedAddress } from './address-list.ts'
import { decodeEncodedWords } from './encoded-words.ts'
import { firstValue, headerFields } from './header-fields.ts'
import { safeContentType } from './media-type.ts'
import { BeyondLimits, parseMime, type RawAttachment } from './mime-parse.ts'

export interface AttachedPart {
  readonly filename: string
  readonly contentType: string
  readonly content: Uint8Array<ArrayBuffer>
  readonly contentId: string | undefined
  readonly inline: boolean
}

/** The parts of a message. Text and HTML are unchanged and not sanitized, since they are delivered to the recipients. */
export interface MessageParts {
  readonly from: readonly ListedAddress[]
  readonly to: readonly ListedAddress[]
  readonly cc: readonly ListedAddress[]
  readonly replyTo: readonly ListedAddress[]
  readonly subject: string
  readonly text: string | undefined
  readonly html: string | undefined
  /** All header fields in order, unfolded and decoded. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly AttachedPart[]
}

/** Splits a message. Throws `BeyondLimits` if content would be lost. */
export async function readParts(raw: Buffer): Promise<MessageParts> {
  const attached: { readonly raw: RawAttachment; readonly chunks: Uint8Array[] }[] = []
  const { text, html, textLeftOut } = await parseMime(raw, (attachment) => {
    const entry = { raw: attachment, chunks: [] as Uint8Array[] }
    attached.push(entry)
    return (chunk) => void entry.chunks.push(chunk)
  })
  if (textLeftOut > 0) throw new BeyondLimits('The message has too much text to be split into parts.')
  const fields = headerFields(raw)
  const addresses = (name: string): ListedAddress[] =>
    fields
      .filter((field) => field.name.toLowerCase() === name)
      .flatMap(({ value }) => addressList(value))
      .filter(({ address }) => address !== '')
  return {
    from: addresses('from'),
    to: addresses('to'),
    cc: addresses('cc'),
    replyTo: addresses('reply-to'),
    subject: decodeEncodedWords(firstValue(fields, 'subject') ?? ''),
    text: text === '' ? undefined : text,
    html: html === '' ? undefined : html,
    headers: fields.map(({ name, value }) => ({ name, value: decodeEncodedWords(value) })),
    attachments: attached.map((entry) => describe(entry.raw, joined(entry.chunks))),
  }
}

function describe(raw: RawAttachment, content: Uint8Array<ArrayBuffer>): AttachedPart {
  const contentType = safeContentType(raw.contentType)
  const contentId = (raw.contentId ?? '').replaceAll(/[\p{Cc}\s<>]/gu, '').slice(0, 998)
  return {
    filename: safeFilename(raw.filename, contentType),
    contentType,
    content,
    contentId: contentId === '' ? undefined : contentId,
    inline: raw.disposition === 'inline' || (raw.related && contentId !== ''),
  }
}

/** Joins the chunks in a separate buffer, which can be transferred to another thread. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
