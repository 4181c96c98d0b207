/**
 * A light look at the header block of a message as submitted: enough for the trace and the gates, without parsing
 * MIME. RFC 5322 §2.2; linear in the size of the block.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { headerText } from '#config/mail/charset/header-text.ts'
import { foldAddress, parseAddress, parseMailbox } from '../../addresses.ts'

export interface ParsedHeaders {
  readonly subject: string
  /** Without angle brackets; empty when there is none. */
  readonly messageId: string
  readonly hasDate: boolean
  /** The addr-spec of the only mailbox of the only From field; empty otherwise. */
  readonly from: string
  /** The only From field as written, up to 320 characters; empty otherwise. */
  readonly fromText: string
  /** How many From fields there are; RFC 5322 §3.6 asks for exactly one. */
  readonly fromFields: number
  /**
   * The addr-spec of each Sender, Resent-From and Resent-Sender field with a domain; empty for one that cannot be read (RFC 5322 §3.6.2,
   * §3.6.6).
   */
  readonly otherSenders: readonly string[]
  /** Lower-cased addresses of the address fields. */
  readonly addresses: readonly string[]
  /** By its Content-Type, the message holds files (RFC 2046 §5.1.3) or is one. */
  readonly hasAttachment: boolean
  /** A program sent it, or a list, or it is a report itself: its author expects no notice about it. RFC 3834 §2, RFC 5321 §6.1. */
  readonly isAutomatic: boolean
  /** The end of the block was seen; otherwise more fields may follow behind what was looked at. */
  readonly ended: boolean
}

const addressFields = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'resent-from', 'resent-sender', 'resent-to', 'resent-cc'])
const senderFields = new Set(['sender', 'resent-from', 'resent-sender'])
/** Begins the escape sequences of ISO-2022-JP. */
const escape = 0x1b
const maxSubject = 998
const maxAuthor = 320
const maxAddresses = 1000

/** `head` begins with the header block; what follows the first empty line is not looked at. */
export function parseHeaders(head: Uint8Array): ParsedHeaders {
  const { octets, ended } = headerBlock(head)
  const found = { ...fieldsOf(octets.toString(isAscii(octets) ? 'latin1' : 'utf8')), ended }
  if (isUtf8(octets) && !octets.includes(escape)) return found
  // Gates read addresses as UTF-8 only: no declared charset may change who the author is.
  const texts: Texts = { subject: '', messageId: '', fromText: '' }
  forEachField(headerText(octets), (name, value) => takeText(texts, name, value))
  return { ...found, ...texts, ...(found.fromFields !== 1 && { fromText: '' }) }
}

function fieldsOf(block: string): Omit<ParsedHeaders, 'ended'> {
  const addresses = new Set<string>()
  const otherSenders: string[] = []
  const texts: Texts = { subject: '', messageId: '', fromText: '' }
  let [from, fromFields] = ['', 0]
  let [hasDate, hasAttachment, isAutomatic] = [false, false, false]
  forEachField(block, (name, value) => {
    isAutomatic ||= saysAutomatic(name, value)
    takeText(texts, name, value)
    if (name === 'date') hasDate = true
    else if (name === 'content-type') hasAttachment ||= isOfFiles(value)
    if (!addressFields.has(name)) return
    const mailbox = name === 'from' || senderFields.has(name) ? parseMailbox(name === 'from' ? withoutComment(value) : value) : undefined
    if (name === 'from') {
      fromFields++
      from = mailbox?.address ?? ''
    } else if (senderFields.has(name) && (mailbox || !localAuthor(value))) otherSenders.push(mailbox?.address ?? '')
    collectAddresses(value, addresses)
  })
  return {
    ...{ ...texts, hasDate, from, fromFields, otherSenders, hasAttachment, isAutomatic },
    ...(fromFields !== 1 && { from: '', fromText: '' }),
    addresses: [...addresses],
  }
}

/** Fields that people see. */
type Texts = { -readonly [Name in 'subject' | 'messageId' | 'fromText']: ParsedHeaders[Name] }

function takeText(texts: Texts, name: string, value: string): void {
  if (name === 'subject') texts.subject ||= value.slice(0, maxSubject)
  else if (name === 'message-id') texts.messageId ||= value.replace(/^</, '').replace(/>$/, '').slice(0, maxSubject)
  else if (name === 'from') texts.fromText = value.slice(0, maxAuthor)
}

/** Whether a field shows that no person waits for an answer to the message. */
export function saysAutomatic(name: string, value: string): boolean {
  if (name === 'auto-submitted') return !/^no\b/i.test(value)
  if (name === 'precedence') return /^(?:bulk|list|junk)\b/i.test(value)
  if (name === 'content-type') return /^multipart\/report\b/i.test(value)
  return name === 'list-id' || name === 'list-unsubscribe'
}

/** Mail without files is text, or text in several forms or with its own pictures. */
const isOfFiles = (type: string): boolean =>
  /^multipart\/mixed\b/i.test(type) || (type.includes('/') && !/^(?:text|multipart|message)\//i.test(type))

/** `a@b (Name)`, as Postfix writes the From of its bounces (RFC 5322 §3.2.2); a comment elsewhere is not taken. */
const withoutComment = (value: string): string => value.replace(/^([^\s<>()"]+)[ ]*\([^()<>@\\"]*\)$/, '$1')

/**
 * The local part of an author without a domain, as programs of a machine write it: `root`, `root (Cron Daemon)` or
 * `"(Cron Daemon)" <root>`. Empty for `<>`, the author of some bounces, and undefined for everything else.
 */
export function localAuthor(value: string): string | undefined {
  if (value.length > maxAuthor) return undefined
  const text = withoutComment(value)
  const [, inBrackets] = /^(?:"[^"\\@]*" *|[^"<>@(),;:\\]*)<([\w.+-]*)>$/.exec(text) ?? []
  return inBrackets ?? (/^[\w.+-]+$/.test(text) ? text : undefined)
}

function headerBlock(head: Uint8Array): { readonly octets: Buffer; readonly ended: boolean } {
  const octets = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  if (octets[0] === 13 && octets[1] === 10) return { octets: octets.subarray(0, 0), ended: true }
  const end = octets.indexOf('\r\n\r\n')
  return { octets: end < 0 ? octets : octets.subarray(0, end), ended: end >= 0 }
}

/** Each field unfolded (RFC 5322 §2.2.3), its name in lower case. */
export function forEachField(block: string, look: (name: string, value: string) => void): void {
  let current = ''
  const end = (): void => {
    const colon = current.indexOf(':')
    if (colon <= 0) return
    const value = current.slice(colon + 1)
    look(current.slice(0, colon).trimEnd().toLowerCase(), (value.includes('\t') ? value.replaceAll('\t', ' ') : value).trim())
  }
  for (let from = 0; from <= block.length;) {
    const next = block.indexOf('\r\n', from)
    const line = block.slice(from, next < 0 ? block.length : next)
    from = next < 0 ? block.length + 1 : next + 2
    if (line.startsWith(' ') || line.startsWith('\t')) {
      current += line
      continue
    }
    end()
    current = line
  }
  end()
}

/** A field with nothing but one address, bare or in brackets. */
const single = /^<?([A-Za-z0-9_.+=@-]+)>?$/

/** Candidates are what stands around an @; each must pass the strict grammar. */
function collectAddresses(value: string, into: Set<string>): void {
  const words = single.exec(value)?.[1]
  for (const word of words === undefined ? value.split(/[\s<>,;:"()[\]]+/) : [words]) {
    if (into.size >= maxAddresses) return
    const mailbox = word.includes('@') ? parseAddress(word) : undefined
    if (mailbox) into.add(foldAddress(mailbox.address))
  }
}
