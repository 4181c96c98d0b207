/**
 * The only grammar for mail addresses: RFC 5321 §4.1.2 Mailbox with RFC 6531 extensions, strict. It has no quoted local parts, comments,
 * groups, lists or literals. Every envelope or header address is parsed here first, by hand and in linear time. Browsers run this code too.
 */
import { isInvisible, trimInvisible } from './invisible.ts'

const maxAddressOctets = 254
const maxLocalOctets = 64

/** A checked mailbox. `address` has the local part as written and the domain in lower case A-label form. */
export interface Mailbox {
  readonly address: string
  readonly local: string
  readonly domain: string
  /** Display name, decoded; empty without a name. */
  readonly name: string
}

/** U+FFFD replaces octets that are not UTF-8. With it, different addresses would become equal. */
const atext = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u{80}-\u{fffc}\u{fffe}-\u{10ffff}]+$/u
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** Controls, line separators and halves of characters (lone surrogates). */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Cs}]/u

/** Form of nearly all addresses. The rules below accept the same texts at a much higher cost. */
const plain = /^[A-Za-z0-9_+=-]+(?:\.[A-Za-z0-9_+=-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Reads a bare addr-spec; returns undefined for any other text. */
export function parseAddress(text: string): Mailbox | undefined {
  const at = text.lastIndexOf('@')
  if (at <= maxLocalOctets && text.length <= maxAddressOctets && plain.test(text))
    return { address: text, local: text.slice(0, at), domain: text.slice(at + 1), name: '' }
  if (at < 1 || text.length > maxAddressOctets || controls.test(text)) return undefined
  const local = text.slice(0, at)
  if (!isLocalPart(local)) return undefined
  const domain = parseDomain(text.slice(at + 1))
  if (domain === undefined || octets(local) + 1 + domain.length > maxAddressOctets) return undefined
  return { address: `${local}@${domain}`, local, domain, name: '' }
}

/** Returns whether the text is a visible dot-string (RFC 5321 §4.1.2, RFC 6531 §3.3). */
export const isLocalPart = (text: string, max = maxLocalOctets): boolean =>
  octets(text) <= max && text.split('.').every((atom) => atext.test(atom)) && !isInvisible(text)

const octets = (text: string): number => new TextEncoder().encode(text).length

/**
 * Reads a bare addr-spec of one person, trimmed as in `parseMailbox`. Returns undefined for an address with `*`, which people use as a
 * pattern.
 */
export const parseExactAddress = (text: string): Mailbox | undefined => (text.includes('*') ? undefined : parseAddress(trimInvisible(text)))

/** Reads a DNS name. Returns it in lower case with A-labels, or undefined if it is not valid. */
export function parseDomain(text: string): string | undefined {
  if (text.length === 0 || text.length > 253 || controls.test(text) || /[\s:/?#@%\\[\]]/.test(text)) return undefined
  const ascii = /^[A-Za-z0-9._-]+$/.test(text) ? text.toLowerCase() : toAscii(text)
  if (ascii.length === 0 || ascii.length > 253 || /^[0-9.]+$/.test(ascii)) return undefined
  return ascii.split('.').every((part) => label.test(part)) ? ascii : undefined
}

/** Converts a name to A-labels by UTS #46, which removes invisible characters. Returns an empty text if it is not valid. */
const toAscii = (text: string): string => (URL.canParse(`ws://${text}`) ? new URL(`ws://${text}`).hostname : '')

/**
 * Reads `a@b`, `<a@b>`, `Name <a@b>` or `"Quoted, name" <a@b>`. Returns undefined for any other text, in particular for lists, groups,
 * comments and several addresses. Ignores blanks and invisible characters at both ends, which pasting adds.
 */
export function parseMailbox(text: string): Mailbox | undefined {
  const trimmed = trimInvisible(text)
  if (!trimmed.endsWith('>')) return parseAddress(trimmed)
  const open = trimmed.lastIndexOf('<')
  if (open < 0) return undefined
  const mailbox = parseAddress(trimmed.slice(open + 1, -1))
  const name = parseDisplayName(trimmed.slice(0, open).trim())
  return mailbox && name !== undefined ? { ...mailbox, name } : undefined
}

/** Reads a mailbox of one person. Also returns undefined for an address with `*`. */
export const parseExactMailbox = (text: string): Mailbox | undefined => (text.includes('*') ? undefined : parseMailbox(text))

/** Folds an address for comparisons without regard to case (suppressions, inboxes, whitelists). */
export const foldAddress = (address: string): string => address.toLowerCase()

function parseDisplayName(text: string): string | undefined {
  if (text.length > 256 || controls.test(text)) return undefined
  if (!text.startsWith('"')) return /[<>@,;:"()[\]\\]/.test(text) ? undefined : text
  if (text.length < 2 || !text.endsWith('"')) return undefined
  const inner = text.slice(1, -1)
  if (!/^(?:[^"\\]|\\.)*$/.test(inner)) return undefined
  return inner.replaceAll(/\\(.)/g, '$1')
}
