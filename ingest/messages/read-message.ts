/** Builds the displayed form of a message from its octets. Runs on the parsing thread. */
import { safeFilename } from '#config/mail/file-names.ts'
import type { ReadAddress, ReadAttachment, ReadMessage } from '#core/capture/reading/message-reader.ts'
import { addressList } from '../mime/address-list.ts'
import { AddressesSeen } from '../mime/addresses-seen.ts'
import { decodeEncodedWords } from '../mime/encoded-words.ts'
import { firstValue, readHeader, type HeaderField } from '../mime/header-fields.ts'
import { textOfHtml } from '../html/html-text.ts'
import { hasCutStyles, mailDocument } from '../html/mail-document.ts'
import { visibleText } from '../html/visible/visible-text.ts'
import { readingNotes } from './reading-notes.ts'
import { mailDate } from '../mime/mail-date.ts'
import { safeContentType } from '../mime/media-type.ts'
import type { Bodies, RawAttachment } from '../mime/mime-parse.ts'
import { openMessage, type OpenedAttachment } from './open-message.ts'
import { charactersLeftOut, embeddableHtml } from '../html/sanitize-html.ts'

const maxTextCharacters = 1_000_000
const maxAddresses = 1000
/** More addresses than a value of 64 KiB can hold. */
const allAddresses = 65_536

/** Parses a message for display. `cut`: `raw` contains only the beginning of the message. */
export async function readMessage(raw: Buffer, cut: boolean): Promise<ReadMessage> {
  const opened = await openMessage(raw, cut)
  const { fields, leftOut } = readHeader(raw)
  const people = addressFields(fields)
  const document = mailDocument(opened.html, locationsOf(opened.attachments.map((file) => file.raw)))
  const visible = visibleText(document)
  const htmlLeftOut = charactersLeftOut(opened.html)
  const html = embeddableHtml(document.html)
  const derived = textOfHtml(html)
  const text = opened.text.trim() === '' ? derived : opened.text
  return {
    ...describeFields(fields),
    ...people.lists,
    text: text.slice(0, maxTextCharacters).toWellFormed(),
    html,
    document,
    ...(visible && { visible: { ...visible, leftOut: visible.leftOut + htmlLeftOut } }),
    attachments: opened.attachments.map(describeAttachment),
    notes: readingNotes({
      ...opened,
      textLeftOut: opened.textLeftOut + Math.max(0, text.length - maxTextCharacters),
      htmlLeftOut,
      hasCutStyles: hasCutStyles(document),
      headerLeftOut: leftOut + people.leftOut,
      hasGuessedAddress: people.isGuessed,
    }),
    addressesSeen: addressesSeen(fields, opened, derived),
  }
}

/** The decoded octets of one attachment in a separate buffer, or undefined if the index is out of range. */
export const readAttachment = async (raw: Buffer, cut: boolean, index: number): Promise<Uint8Array<ArrayBuffer> | undefined> =>
  (await openMessage(raw, cut, index)).attachments[index]?.octets

function describeFields(fields: readonly HeaderField[]): Pick<ReadMessage, 'subject' | 'messageId' | 'date' | 'headers'> {
  const messageId = firstValue(fields, 'message-id')
  return {
    subject: decodeEncodedWords(firstValue(fields, 'subject') ?? ''),
    messageId: messageId === '' ? undefined : messageId,
    date: mailDate(firstValue(fields, 'date') ?? ''),
    headers: fields.map(({ name, value }) => ({ name, value: decodeEncodedWords(value) })),
  }
}

const addressNames = { from: 'from', to: 'to', cc: 'cc', bcc: 'bcc', replyTo: 'reply-to' } as const

interface AddressFields {
  readonly lists: Record<keyof typeof addressNames, ReadAddress[]>
  /** Number of addresses beyond the limit. */
  readonly leftOut: number
  /** Octets of an address are not UTF-8, which RFC 6532 requires. */
  readonly isGuessed: boolean
}

function addressFields(fields: readonly HeaderField[]): AddressFields {
  let leftOut = 0
  const listOf = (name: string): ReadAddress[] => {
    const all = addresses(fields, name)
    leftOut += Math.max(0, all.length - maxAddresses)
    return all.slice(0, maxAddresses)
  }
  const { from, to, cc, bcc, replyTo } = addressNames
  const guessed = fields.filter((field) => field.isGuessed)
  const isGuessed = Object.values(addressNames).some((name) => addresses(guessed, name).some(({ address }) => /[^\0-\x7f]/.test(address)))
  return { lists: { from: listOf(from), to: listOf(to), cc: listOf(cc), bcc: listOf(bcc), replyTo: listOf(replyTo) }, leftOut, isGuessed }
}

/**
 * RFC 5322 §3.6 forbids repeated fields, but their addresses must not stay hidden, so all of them count. Names without an address are
 * dropped.
 */
const addresses = (fields: readonly HeaderField[], name: string): ReadAddress[] =>
  fields
    .filter((field) => field.name.toLowerCase() === name)
    .flatMap((field) => addressList(field.value, allAddresses).filter(({ address }) => address !== ''))

/** Images that HTML can reference by their Content-Location. */
function locationsOf(attachments: readonly RawAttachment[]): Map<string, string> {
  const locations = new Map<string, string>()
  for (const [index, raw] of attachments.entries())
    if (isLocatedImage(raw) && !locations.has(raw.location)) locations.set(raw.location, contentIdOf(raw, index))
  return locations
}

const isLocatedImage = (raw: RawAttachment): raw is RawAttachment & { location: string } =>
  raw.location !== undefined && raw.contentType.startsWith('image/')

/** The Content-ID of an image. An image with only a Content-Location gets a generated ID, which the sanitized HTML references. */
function contentIdOf(raw: RawAttachment, index: number): string {
  const declared = (raw.contentId ?? '').replaceAll(/[\p{Cc}\s]/gu, '').slice(0, 998)
  return declared === '' && isLocatedImage(raw) ? `part-${index}.location` : declared
}

function describeAttachment({ raw, size, isFromTnef }: OpenedAttachment, index: number): ReadAttachment {
  const contentType = safeContentType(raw.contentType)
  const contentId = contentIdOf(raw, index)
  return {
    filename: safeFilename(raw.filename, contentType),
    contentType,
    size,
    contentId: contentId === '' ? undefined : contentId,
    inline: raw.disposition === 'inline' || (raw.related && contentId !== ''),
    fromTnef: isFromTnef,
  }
}

function addressesSeen(fields: readonly HeaderField[], bodies: Pick<Bodies, 'text' | 'html'>, derived: string): string[] {
  const seen = new AddressesSeen()
  for (const { name, value } of fields) seen.addField(name, decodeEncodedWords(value))
  seen.addBody(bodies.text)
  // the source contains addresses in links and attributes; the derived text contains addresses that markup or entities split
  seen.addBody(bodies.html)
  seen.addBody(derived)
  return seen.sorted()
}
