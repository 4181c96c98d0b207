/** Takes a message apart into what providers without MIME want: addresses, texts, attachments. Nothing is left out in silence. */
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

/** A whole message in parts. Texts are as written, HTML is not made safe to show: it goes on to its recipients. */
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

/** Throws `BeyondLimits` where a part of the message would be lost. */
export async function readParts(raw: Buffer): Promise<MessageParts> {
  const attached: { readonly raw: RawAttachment; readonly chunks: Uint8Array[] }[] = []
  const { text, html, textLeftOut } = await parseMime(raw, (attachment) => {
    const entry = { raw: attachment, chunks: [] as Uint8Array[] }
    attached.push(entry)
    return (chunk) => void entry.chunks.push(chunk)
  })
  if (textLeftOut > 0) throw new BeyondLimits('The message has more text than can be taken apart.')
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

/** In memory of its own, which can be handed to another thread. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
