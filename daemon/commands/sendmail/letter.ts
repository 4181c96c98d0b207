/** A message as programs write it to sendmail, made ready to send: line ends, header, envelope. */
import { addressList } from '#ingest/mime/address-list.ts'
import type { SendmailWords, Wrong } from './sendmail-words.ts'

export interface Letter {
  /** Empty is the null reverse-path. */
  readonly from: string
  readonly to: readonly string[]
  /** Lines end in CRLF. */
  readonly bytes: Buffer
}

export interface Surroundings {
  /** User that the command runs as. */
  readonly user: string
  readonly hostname: string
  /** Gets the mail for names without a domain; those names at the host by default. */
  readonly localRecipient: string | null
}

interface Field {
  /** In lower case. */
  readonly name: string
  /** As written, with folded lines. */
  readonly text: string
}

/** What stands where an address belongs, and is none. */
class NoAddress extends Error {
  constructor(text: string) {
    super(`${JSON.stringify(text.slice(0, 200))} is not a mail address.`)
  }
}

/** As many as are read of one field; beyond them some might be missed. */
const maxListed = 1000

/** The letter, or what is wrong with it. */
export function prepareLetter(input: Buffer, words: SendmailWords, surroundings: Surroundings): Letter | Wrong {
  try {
    return readLetter(input, words, surroundings)
  } catch (error) {
    if (error instanceof NoAddress) return { wrong: error.message }
    throw error
  }
}

function readLetter(input: Buffer, words: SendmailWords, { user, hostname, localRecipient }: Surroundings): Letter | Wrong {
  const { fields, body } = splitHeader(withLines(words.dotEnds ? untilDot(input) : input))
  const recipients = words.recipients.flatMap((word) => addressesIn(word))
  if (words.readsRecipients) recipients.push(...listedRecipients(fields))
  if (recipients.length >= maxListed) return { wrong: `The message has ${maxListed} recipients or more; send it to fewer at a time.` }
  const qualified = recipients.map((address) => (address.includes('@') ? address : (localRecipient ?? `${address}@${hostname}`)))
  const to = [...new Set(qualified)]
  if (to.length === 0)
    return { wrong: `No recipient: give addresses${words.readsRecipients ? ', or To, Cc or Bcc in the message' : ', or -t'}.` }
  const own = `${user}@${hostname}`
  const headerFrom = fields.find(({ name }) => name === 'from')
  const listed = headerFrom && addressList(valueOf(headerFrom)).map(({ address }) => address)
  const given = words.from === undefined || words.from === '' || words.from.includes('@') ? words.from : `${words.from}@${hostname}`
  const from = given ?? (listed?.length === 1 && listed[0]?.includes('@') ? listed[0] : own)
  const kept = fields
    .filter(({ name }) => name !== 'bcc' && name !== 'resent-bcc')
    .map((field) => (field === headerFrom ? qualifiedFrom(field, hostname) : field))
  const added = headerFrom ? '' : `From: ${named(words.fullName, from === '' ? own : from)}\r\n`
  const header = kept.map(({ text }) => text).join('') + added
  return { from, to, bytes: Buffer.concat([Buffer.from(`${header}\r\n`, 'latin1'), body]) }
}

/** Without what follows a line that is only a dot, which ends the message on terminals and in old scripts. */
function untilDot(input: Buffer): Buffer {
  const text = input.toString('latin1')
  const end = /(?:^|\r?\n|\r)\.(?:\r?\n|\r|$)/.exec(text)
  return end ? Buffer.from(text.slice(0, end.index) + (end.index === 0 ? '' : '\n'), 'latin1') : input
}

/** Every line end as CRLF, the last one too; also what CR CR LF comes from, programs that convert twice. */
function withLines(input: Buffer): Buffer {
  const text = input.toString('latin1').replaceAll(/\r{0,3}\n|\r/g, '\r\n')
  return Buffer.from(text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1')
}

const fieldStart = /^([!-9;-~]+)[ \t]*:/

/** The header ends at the first line that is no field; a message without one is body from its first line on. */
function splitHeader(bytes: Buffer): { readonly fields: readonly Field[]; readonly body: Buffer } {
  const fields: { name: string; text: string }[] = []
  let at = 0
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n', at) + 2
    const line = bytes.toString('latin1', at, end)
    if (line === '\r\n') return { fields, body: bytes.subarray(end) }
    const last = fields.at(-1)
    const name = fieldStart.exec(line)?.[1]
    if (/^[ \t]/.test(line) && last) last.text += line
    else if (name !== undefined) fields.push({ name: name.toLowerCase(), text: line })
    else if (!(at === 0 && line.startsWith('From '))) return { fields, body: bytes.subarray(at) } // a mailbox of Unix begins so
    at = end
  }
  return { fields, body: Buffer.alloc(0) }
}

/** Those of a message that is sent again are in its Resent fields (RFC 5322 §3.6.6). */
function listedRecipients(fields: readonly Field[]): string[] {
  const in_ = (...names: string[]): string[] =>
    fields.filter(({ name }) => names.includes(name)).flatMap((field) => addressesIn(valueOf(field)))
  const resent = in_('resent-to', 'resent-cc', 'resent-bcc')
  return resent.length > 0 ? resent : in_('to', 'cc', 'bcc')
}

const valueOf = ({ text }: Field): string =>
  Buffer.from(text.slice(text.indexOf(':') + 1), 'latin1')
    .toString('utf8')
    .replaceAll(/\r\n[ \t]/g, ' ')
    .trim()

/** Stands in for the domain of local names, so that they are read like addresses. */
const here = '@here.invalid'

/** Addresses, and local names as they are. Throws `NoAddress` for what is neither, so that no mail goes to a guess. */
function addressesIn(text: string): string[] {
  const value = text.replaceAll(/<([\w.+-]+)>/g, `<$1${here}>`)
  return addressList(value).map(({ address, name }) => {
    if (address !== '') return address.endsWith(here) ? address.slice(0, -here.length) : address
    if (/^[\w.+-]+$/.test(name) && value.split(/[,;]/).some((part) => part.trim() === name)) return name
    throw new NoAddress(name || text)
  })
}

/** Cron writes the From of a local name; mail that leaves the machine needs a domain there (RFC 6409 §8.1). */
function qualifiedFrom(field: Field, hostname: string): Field {
  const [only, ...others] = addressList(valueOf(field).replaceAll(/<([\w.+-]+)>/g, `<$1@${hostname}>`))
  if (!only || others.length > 0) return field
  const { address, name } = only
  if (address !== '') return valueOf(field).includes('@') ? field : { name: 'from', text: `From: ${named(name, address)}\r\n` }
  return /^[\w.+-]+$/.test(name) ? { name: 'from', text: `From: ${name}@${hostname}\r\n` } : field
}

/** `Name <address>`, the name quoted or encoded (RFC 2047) where it must be. */
function named(name: string | undefined, address: string): string {
  if (name === undefined || name.trim() === '') return address
  const clean = name.replaceAll(/[\r\n\0]+/g, ' ').trim()
  if (/^[A-Za-z0-9 !#$%&'*+/=?^_`{|}~-]+$/.test(clean)) return `${clean} <${address}>`
  const isPlain = /^[ -~]*$/.test(clean)
  const written = isPlain ? `"${clean.replaceAll(/(["\\])/g, '\\$1')}"` : `=?utf-8?B?${Buffer.from(clean).toString('base64')}?=`
  return `${written} <${address}>`
}
