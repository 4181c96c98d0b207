/**
 * MIME messages for providers that take the recipients from the header. If To and Cc name exactly the recipients of the attempt, it returns
 * the stored message. Otherwise it rewrites these fields, so that no recipient is missing or gets a second copy.
 */
import type { MessageFields, NamedAddress, OutgoingMessage } from './vendor.ts'

/** The message, and the recipients that are only in its Bcc. */
export interface AddressedMime {
  readonly mime: Buffer
  readonly hidden: readonly string[]
}

const addressFields = /^(?:to|cc|bcc|resent-to|resent-cc|resent-bcc)$/

/** Returns the message with only the recipients of the attempt in To, Cc and Bcc. */
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
  /** Lower-case name; empty for a line that is not a field. */
  readonly name: string
  /** The raw text, one character for each byte, with folded lines and line ends. */
  readonly text: string
}

/** Returns the lines of the header (RFC 5322 §2.2) up to the empty line, including invalid ones. */
export function headerFields(mime: Buffer): readonly HeaderField[] {
  const end = mime.indexOf('\r\n\r\n')
  const head = mime.subarray(0, end < 0 ? mime.length : end + 2).toString('latin1')
  return head
    .split(/(?<=\r\n)(?![ \t])/)
    .map((text) => ({ name: (/^([\x21-\x39\x3b-\x7e]+)[ \t]*:/.exec(text)?.[1] ?? '').toLowerCase(), text }))
}

/** Whether the fields are only To and Cc, with exactly these addresses. Unclear cases return false, so that the fields are rewritten. */
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

/** Returns a mailbox (RFC 5322 §3.4), with encoded words (RFC 2047 §2) for names outside ASCII. One character for each byte. */
function mailbox({ name, address }: NamedAddress): string {
  const bytes = Buffer.from(address).toString('latin1')
  if (name === '') return bytes
  if (/^[\x20-\x7e]{1,60}$/.test(name)) return `"${name.replaceAll(/["\\]/g, '\\$&')}" <${bytes}>`
  return `${encodedWords(name).join('\r\n ')} <${bytes}>`
}

/** Returns encoded words of at most 75 characters, with up to 45 bytes of text each. No character is split. */
export function encodedWords(name: string): readonly string[] {
  const words: string[] = ['']
  for (const character of name.replaceAll(/[\r\n\0]/g, ' ')) {
    const last = words.at(-1) ?? ''
    if (Buffer.byteLength(last + character) > 45) words.push(character)
    else words[words.length - 1] = last + character
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`)
}
