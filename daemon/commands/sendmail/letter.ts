/** Prepares a message from a program for sending: line ends, header, envelope. */
import { addressList } from '#ingest/mime/address-list.ts'
import type { SendmailArguments, Wrong } from './sendmail-arguments.ts'

export interface Letter {
  /** Empty means the null reverse-path. */
  readonly from: string
  readonly to: readonly string[]
  /** Lines end in CRLF. */
  readonly bytes: Buffer
}

export interface Surroundings {
  /** User that runs the command. */
  readonly user: string
  readonly hostname: string
  /** Receives the mail for names without a domain; null sends it to the name at this host. */
  readonly localRecipient: string | null
}

interface Field {
  /** In lower case. */
  readonly name: string
  /** As written, with folded lines. */
  readonly text: string
}

/** A text in an address field that is not an address. */
class NoAddress extends Error {
  constructor(text: string) {
    super(`${JSON.stringify(text.slice(0, 200))} is not a mail address.`)
  }
}

/** Limit of the address parser for one field. Longer lists are refused, because addresses would be missed. */
const maxListed = 1000

/** Returns the prepared message, or a sentence about the problem. */
export function prepareLetter(input: Buffer, args: SendmailArguments, surroundings: Surroundings): Letter | Wrong {
  try {
    return readLetter(input, args, surroundings)
  } catch (error) {
    if (error instanceof NoAddress) return { wrong: error.message }
    throw error
  }
}

function readLetter(input: Buffer, args: SendmailArguments, { user, hostname, localRecipient }: Surroundings): Letter | Wrong {
  const { fields, body } = splitHeader(withLines(args.dotEnds ? untilDot(input) : input))
  const recipients = args.recipients.flatMap((word) => addressesIn(word))
  if (args.readsRecipients) recipients.push(...listedRecipients(fields))
  if (recipients.length >= maxListed)
    return { wrong: `The message has ${maxListed} recipients or more. Send it to fewer recipients at a time.` }
  const qualified = recipients.map((address) => (address.includes('@') ? address : (localRecipient ?? `${address}@${hostname}`)))
  const to = [...new Set(qualified)]
  if (to.length === 0)
    return {
      wrong: `The message has no recipient. Name addresses${args.readsRecipients ? ', or add To, Cc or Bcc to the message' : ', or use -t'}.`,
    }
  const own = `${user}@${hostname}`
  const headerFrom = fields.find(({ name }) => name === 'from')
  const listed = headerFrom && addressList(valueOf(headerFrom)).map(({ address }) => address)
  const given = args.from === undefined || args.from === '' || args.from.includes('@') ? args.from : `${args.from}@${hostname}`
  const from = given ?? (listed?.length === 1 && listed[0]?.includes('@') ? listed[0] : own)
  const kept = fields
    .filter(({ name }) => name !== 'bcc' && name !== 'resent-bcc')
    .map((field) => (field === headerFrom ? qualifiedFrom(field, hostname) : field))
  const added = headerFrom ? '' : `From: ${named(args.fullName, from === '' ? own : from)}\r\n`
  const header = kept.map(({ text }) => text).join('') + added
  return { from, to, bytes: Buffer.concat([Buffer.from(`${header}\r\n`, 'latin1'), body]) }
}

/** Cuts the message at a line with only a dot, which ends the message on terminals and in old scripts. */
function untilDot(input: Buffer): Buffer {
  const text = input.toString('latin1')
  const end = /(?:^|\r?\n|\r)\.(?:\r?\n|\r|$)/.exec(text)
  return end ? Buffer.from(text.slice(0, end.index) + (end.index === 0 ? '' : '\n'), 'latin1') : input
}

/** Converts all line ends to CRLF and adds a missing last one. Also repairs CR CR LF of programs that convert twice. */
function withLines(input: Buffer): Buffer {
  const text = input.toString('latin1').replaceAll(/\r{0,3}\n|\r/g, '\r\n')
  return Buffer.from(text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1')
}

const fieldStart = /^([!-9;-~]+)[ \t]*:/

/** The header ends at the first line that is not a field. A message without fields is all body. */
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
    else if (!(at === 0 && line.startsWith('From '))) return { fields, body: bytes.subarray(at) } // first line of a Unix mailbox
    at = end
  }
  return { fields, body: Buffer.alloc(0) }
}

/** Recipients in the header. Resent fields replace the others if present (RFC 5322 §3.6.6). */
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

/** Placeholder domain for local names, so that the address parser accepts them. */
const here = '@here.invalid'

/** Returns addresses and local names. Throws `NoAddress` for other text instead of guessing a recipient. */
function addressesIn(text: string): string[] {
  const value = text.replaceAll(/<([\w.+-]+)>/g, `<$1${here}>`)
  return addressList(value).map(({ address, name }) => {
    if (address !== '') return address.endsWith(here) ? address.slice(0, -here.length) : address
    if (/^[\w.+-]+$/.test(name) && value.split(/[,;]/).some((part) => part.trim() === name)) return name
    throw new NoAddress(name || text)
  })
}

/** Adds the domain to a local name in From, as cron writes it. Mail that leaves the machine needs a domain (RFC 6409 §8.1). */
function qualifiedFrom(field: Field, hostname: string): Field {
  const [only, ...others] = addressList(valueOf(field).replaceAll(/<([\w.+-]+)>/g, `<$1@${hostname}>`))
  if (!only || others.length > 0) return field
  const { address, name } = only
  if (address !== '') return valueOf(field).includes('@') ? field : { name: 'from', text: `From: ${named(name, address)}\r\n` }
  return /^[\w.+-]+$/.test(name) ? { name: 'from', text: `From: ${name}@${hostname}\r\n` } : field
}

/** Formats `Name <address>`. Quotes or encodes the name (RFC 2047) if necessary. */
function named(name: string | undefined, address: string): string {
  if (name === undefined || name.trim() === '') return address
  const clean = name.replaceAll(/[\r\n\0]+/g, ' ').trim()
  if (/^[A-Za-z0-9 !#$%&'*+/=?^_`{|}~-]+$/.test(clean)) return `${clean} <${address}>`
  const isPlain = /^[ -~]*$/.test(clean)
  const written = isPlain ? `"${clean.replaceAll(/(["\\])/g, '\\$1')}"` : `=?utf-8?B?${Buffer.from(clean).toString('base64')}?=`
  return `${written} <${address}>`
}
