/** Decodes octets of mail in any declared charset. Header fields, plain text and HTML use the same function. */
import { isAscii } from 'node:buffer'
import { ascii, charsetNamed, unnamed } from './charset-names.ts'
import { replacing, strictly } from './decoders.ts'
import { hasJapaneseEscape, isStateful } from './stateful.ts'

/**
 * `unknown_charset`: no charset is declared, or its name is unknown, and the text is a guess. `wrong_charset`: the octets are not valid in
 * the declared charset, and the text is a guess. `broken_text`: some octets became U+FFFD.
 */
export type CharsetFault = 'unknown_charset' | 'wrong_charset' | 'broken_text'

export interface DecodedText {
  readonly text: string
  readonly fault?: CharsetFault
}

const lastResort = 'windows-1252'
const maxProlog = 4096

/**
 * Tries charsets in this order and uses the first one in which all octets are valid: the declared one, the one in an HTML document, UTF-8,
 * other Japanese charsets if one was declared, and windows-1252. A multi-byte text with few invalid octets keeps its charset; these octets
 * become U+FFFD. Never throws.
 */
export function decodeOctets(octets: Uint8Array, declared: string, isHtml = false): DecodedText {
  const bytes = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const named = charsetNamed(declared)
  const candidates = [...new Set(candidatesFor(bytes, named, isHtml))]
  for (const charset of candidates) {
    const text = strictly(bytes, charset)
    if (text !== undefined) return { text, ...(charset === named || isAscii(bytes) || promisesNothing(named) ? {} : guessOf(named)) }
  }
  for (const charset of candidates) {
    if (charset === ascii) continue
    const text = replacing(bytes, charset)
    if (isMostlySound(text)) return { text, fault: 'broken_text' }
  }
  return { text: replacing(bytes, lastResort), ...guessOf(named) }
}

/** Returns whether the declared charset does not define octets above 0x7f. Such text is usually UTF-8. */
const promisesNothing = (named: string | undefined): boolean => named === unnamed || named === ascii

const guessOf = (named: string | undefined): { readonly fault: CharsetFault } => ({
  fault: named === undefined || named === unnamed ? 'unknown_charset' : 'wrong_charset',
})

function* candidatesFor(octets: Buffer, named: string | undefined, isHtml: boolean): Iterable<string> {
  if (named === undefined || named === unnamed || named === ascii) {
    if (hasJapaneseEscape(octets)) yield 'iso-2022-jp'
  }
  // A text of ASCII letters that claims two or four octets a character names them wrongly.
  const isWide = named !== undefined && /^utf-(?:16|32)/.test(named)
  if (named !== undefined && named !== unnamed && !(isWide && isAscii(octets) && !octets.includes(0))) yield named
  const inside = isHtml ? charsetInHtml(octets) : undefined
  if (inside !== undefined) yield inside
  yield 'utf-8'
  // Japanese programs declare the charset of mail but write the charset of the system.
  if (named === 'iso-2022-jp') yield* ['euc-jp', 'shift_jis']
}

/** Returns the charset of a `meta` element. A document with such an element in ASCII is not UTF-16. */
function charsetInHtml(octets: Buffer): string | undefined {
  const prolog = octets.toString('latin1', 0, maxProlog)
  const label = /<meta\b[^>]{0,300}?\bcharset\s{0,20}=[\s"']{0,20}([\w.:-]{1,40})/i.exec(prolog)?.[1]
  const charset = label === undefined ? undefined : charsetNamed(label)
  if (charset === undefined || charset === unnamed || isStateful(charset)) return undefined
  return charset.startsWith('utf-') ? 'utf-8' : charset
}

/** Returns whether more characters beyond ASCII are valid than invalid. */
function isMostlySound(text: string): boolean {
  let balance = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0xfffd) balance--
    else if (unit > 0x7f) balance++
  }
  return balance > 0
}
