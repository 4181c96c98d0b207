/**
 * For providers that take the recipients from the message itself: the stored message when its To and Cc name exactly
 * the recipients of this attempt, else with these fields made anew, so that no recipient gets a second copy or is left out.
 */
import type { MessageFields, NamedAddress, OutgoingMessage } from './vendor.ts'

/** The message, and the recipients that only its Bcc names. */
export interface AddressedMime {
  readonly mime: Buffer
  readonly hidden: readonly string[]
}

const addressFields = /^(?:to|cc|bcc|resent-to|resent-cc|resent-bcc)$/

/** The message whose To, Cc and Bcc name only the recipients of this attempt. */
export async function addressedMime(message: OutgoingMessage): Promise<AddressedMime> {
  const mime = await message.mime()
  const fields = headerFields(mime)
  const addressing = fields.filter(({ name }) => addressFields.test(name))
  if (namesExactly(addressing, message.rcptTo)) return { mime, hidden: [] }
  const parsed = await message.fields()
  const kept = fields.filter(({ name }) => !addressFields.test(name)).map(({ text }) => text)
  const body = mime.subarray(fields.reduce((length, { text }) => length + text.length, 0))
  const head = [...kept, ...addressingOf(parsed)].join('')
  return { mime: Buffer.concat([Buffer.from(head, 'latin1'), body]), hidden: parsed.bcc.map(({ address }) => address) }
}

export interface HeaderField {
  /** Lower-case; empty for a line that is no field. */
  readonly name: string
  /** As it stands, one character for each byte, folded lines and line ends included. */
  readonly text: string
}

/** The fields of the header (RFC 5322 §2.2) up to the empty line, and whatever else stands among them. */
export function headerFields(mime: Buffer): readonly HeaderField[] {
  const end = mime.indexOf('\r\n\r\n')
  const head = mime.subarray(0, end < 0 ? mime.length : end + 2).toString('latin1')
  return head
    .split(/(?<=\r\n)(?![ \t])/)
    .map((text) => ({ name: (/^([\x21-\x39\x3b-\x7e]+)[ \t]*:/.exec(text)?.[1] ?? '').toLowerCase(), text }))
}

/** Only To and Cc, and in them nothing but these addresses: what is not plainly so is made anew. */
function namesExactly(addressing: readonly HeaderField[], rcptTo: readonly string[]): boolean {
  if (addressing.some(({ name }) => name !== 'to' && name !== 'cc')) return false
  const named = addressing.flatMap(({ text }) => text.match(/[^\s<>,;:"()]+@[^\s<>,;:"()]+/g) ?? [])
  const fold = (addresses: readonly string[]): string => [...new Set(addresses.map((address) => address.toLowerCase()))].sort().join(' ')
  return fold(named) === fold(rcptTo)
}

function addressingOf({ to, cc, bcc }: MessageFields): readonly string[] {
  const field = (name: string, addresses: readonly NamedAddress[]): string =>
    addresses.length === 0 ? '' : `${name}: ${addresses.map(mailbox).join(',\r\n ')}\r\n`
  return [field('To', to), field('Cc', cc), field('Bcc', bcc)]
}

/** RFC 5322 §3.4, with RFC 2047 §2 words for names that are not ASCII. One character for each byte. */
function mailbox({ name, address }: NamedAddress): string {
  const bytes = Buffer.from(address).toString('latin1')
  if (name === '') return bytes
  if (/^[\x20-\x7e]{1,60}$/.test(name)) return `"${name.replaceAll(/["\\]/g, '\\$&')}" <${bytes}>`
  return `${encodedWords(name).join('\r\n ')} <${bytes}>`
}

/** Each word has at most 45 bytes of text, so that it stays within 75 characters, and no character is divided. */
export function encodedWords(name: string): readonly string[] {
  const words: string[] = ['']
  for (const character of name.replaceAll(/[\r\n\0]/g, ' ')) {
    const last = words.at(-1) ?? ''
    if (Buffer.byteLength(last + character) > 45) words.push(character)
    else words[words.length - 1] = last + character
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`)
}
