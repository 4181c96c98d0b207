/**
 * Parses the header block of a submitted message for the trace and the gates, without parsing MIME. RFC 5322 §2.2; linear in the size of
 * the block.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { headerText } from '#config/mail/charset/header-text.ts'
import { foldAddress, parseAddress, parseMailbox } from '../../addresses.ts'

export interface ParsedHeaders {
  readonly subject: string
  /** Without angle brackets; empty if missing. */
  readonly messageId: string
  readonly hasDate: boolean
  /** The addr-spec of the only mailbox of the only From field; empty otherwise. */
  readonly from: string
  /** The only From field as written, up to 320 characters; empty otherwise. */
  readonly fromText: string
  /** Number of From fields; RFC 5322 §3.6 requires exactly one. */
  readonly fromFields: number
  /** The addr-spec of each Sender, Resent-From and Resent-Sender field with a domain; empty if invalid (RFC 5322 §3.6.2, §3.6.6). */
  readonly otherSenders: readonly string[]
  /** Lower-cased addresses of the address fields. */
  readonly addresses: readonly string[]
  /** True if the message contains files or is a file, according to its Content-Type (RFC 2046 §5.1.3). */
  readonly hasAttachment: boolean
  /** True if the message is from a program or a list, or is a report. Its author expects no notice. RFC 3834 §2, RFC 5321 §6.1. */
  readonly isAutomatic: boolean
  /** True if the block is complete; otherwise more fields may follow. */
  readonly ended: boolean
}

const addressFields = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'resent-from', 'resent-sender', 'resent-to', 'resent-cc'])
const senderFields = new Set(['sender', 'resent-from', 'resent-sender'])
/** Begins the escape sequences of ISO-2022-JP. */
const escape = 0x1b
const maxSubject = 998
const maxAuthor = 320
const maxAddresses = 1000

/** Parses a header block at the start of `head`. Ignores everything after the first empty line. */
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

/** Fields shown to people. */
type Texts = { -readonly [Name in 'subject' | 'messageId' | 'fromText']: ParsedHeaders[Name] }

function takeText(texts: Texts, name: string, value: string): void {
  if (name === 'subject') texts.subject ||= value.slice(0, maxSubject)
  else if (name === 'message-id') texts.messageId ||= value.replace(/^</, '').replace(/>$/, '').slice(0, maxSubject)
  else if (name === 'from') texts.fromText = value.slice(0, maxAuthor)
}

/** Returns true if the field shows that no person expects an answer. */
export function saysAutomatic(name: string, value: string): boolean {
  if (name === 'auto-submitted') return !/^no\b/i.test(value)
  if (name === 'precedence') return /^(?:bulk|list|junk)\b/i.test(value)
  if (name === 'content-type') return /^multipart\/report\b/i.test(value)
  return name === 'list-id' || name === 'list-unsubscribe'
}

/** Returns true unless the type is text, a message, or multipart without `mixed`. */
const isOfFiles = (type: string): boolean =>
  /^multipart\/mixed\b/i.test(type) || (type.includes('/') && !/^(?:text|multipart|message)\//i.test(type))

/** Removes the comment of `a@b (Name)`, the format of From in Postfix bounces (RFC 5322 §3.2.2). Keeps comments elsewhere. */
const withoutComment = (value: string): string => value.replace(/^([^\s<>()"]+)[ ]*\([^()<>@\\"]*\)$/, '$1')

/**
 * Returns the local part of an author without a domain, as local programs write it: `root`, `root (Cron Daemon)` or `"(Cron Daemon)"
 * <root>`. Empty for `<>`, the author of some bounces; undefined for other text.
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

/** Calls `look` for each unfolded field (RFC 5322 §2.2.3), with the name in lower case. */
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

/** A field with a single address, bare or in brackets. */
const single = /^<?([A-Za-z0-9_.+=@-]+)>?$/

/** Collects words that contain an @ and pass the strict grammar. */
function collectAddresses(value: string, into: Set<string>): void {
  const words = single.exec(value)?.[1]
  for (const word of words === undefined ? value.split(/[\s<>,;:"()[\]]+/) : [words]) {
    if (into.size >= maxAddresses) return
    const mailbox = word.includes('@') ? parseAddress(word) : undefined
    if (mailbox) into.add(foldAddress(mailbox.address))
  }
}
