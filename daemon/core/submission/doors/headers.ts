/**
 * A light look at the header block of a message as submitted: enough for the trace and the gates, without parsing
 * MIME. RFC 5322 §2.2; linear in the size of the block.
 */
import { parseAddress, parseMailbox } from '../../addresses.ts'

export interface ParsedHeaders {
  readonly subject: string
  /** Without angle brackets; empty when there is none. */
  readonly messageId: string
  readonly hasDate: boolean
  /** The addr-spec of the only mailbox of the only From field; empty otherwise. */
  readonly from: string
  /** How many From fields there are; RFC 5322 §3.6 asks for exactly one. */
  readonly fromFields: number
  /** The addr-spec of each Sender, Resent-From and Resent-Sender field; empty for one that cannot be read (RFC 5322 §3.6.2, §3.6.6). */
  readonly otherSenders: readonly string[]
  /** Lower-cased addresses of the address fields. */
  readonly addresses: readonly string[]
  readonly utf8: boolean
  /** The end of the block was seen; otherwise more fields may follow behind what was looked at. */
  readonly ended: boolean
}

const addressFields = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'resent-from', 'resent-sender', 'resent-to', 'resent-cc'])
const senderFields = new Set(['sender', 'resent-from', 'resent-sender'])
const maxSubject = 998
const maxAddresses = 1000

/** `head` begins with the header block; what follows the first empty line is not looked at. */
export function parseHeaders(head: Uint8Array): ParsedHeaders {
  const { block, ended } = headerBlock(head)
  const addresses = new Set<string>()
  const otherSenders: string[] = []
  const parsed = { subject: '', messageId: '', hasDate: false, from: '', fromFields: 0 }
  for (const [name, value] of fields(block)) {
    if (name === 'subject') parsed.subject ||= value.slice(0, maxSubject)
    else if (name === 'message-id') parsed.messageId ||= value.replace(/^</, '').replace(/>$/, '').slice(0, maxSubject)
    else if (name === 'date') parsed.hasDate = true
    if (name === 'from') {
      parsed.fromFields++
      parsed.from = parseMailbox(withoutComment(value))?.address ?? ''
    }
    if (senderFields.has(name)) otherSenders.push(parseMailbox(value)?.address ?? '')
    if (addressFields.has(name)) collectAddresses(value, addresses)
  }
  return {
    ...parsed,
    otherSenders,
    from: parsed.fromFields === 1 ? parsed.from : '',
    addresses: [...addresses].slice(0, maxAddresses),
    utf8: isUtf8(block),
    ended,
  }
}

/** `a@b (Name)`, as Postfix writes the From of its bounces (RFC 5322 §3.2.2); a comment elsewhere is not taken. */
const withoutComment = (value: string): string => value.replace(/^([^\s<>()"]+)[ ]*\([^()<>@\\"]*\)$/, '$1')

function headerBlock(head: Uint8Array): { readonly block: string; readonly ended: boolean } {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (bytes[0] === 13 && bytes[1] === 10) return { block: '', ended: true }
  const end = bytes.indexOf('\r\n\r\n')
  return { block: bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8'), ended: end >= 0 }
}

const isUtf8 = (block: string): boolean => /[^\u0000-\u007f]/.test(block)

function* fields(block: string): Iterable<[string, string]> {
  let current = ''
  for (const line of block.split('\r\n')) {
    if (line.startsWith(' ') || line.startsWith('\t')) current += line
    else {
      yield* field(current)
      current = line
    }
  }
  yield* field(current)
}

function* field(line: string): Iterable<[string, string]> {
  const colon = line.indexOf(':')
  if (colon > 0)
    yield [
      line.slice(0, colon).trimEnd().toLowerCase(),
      line
        .slice(colon + 1)
        .replaceAll('\t', ' ')
        .trim(),
    ]
}

/** Candidates are what stands around an @; each must pass the strict grammar. */
function collectAddresses(value: string, into: Set<string>): void {
  for (const word of value.split(/[\s<>,;:"()[\]]+/)) {
    if (!word.includes('@') || into.size >= maxAddresses) continue
    const mailbox = parseAddress(word)
    if (mailbox) into.add(mailbox.address.toLowerCase())
  }
}
