/**
 * Transfer encodings of texts. They process octets, because regular expressions create a string for each line. Collecting these strings
 * would block the main thread for a text of many megabytes.
 */
import { maxLineOctets } from './part.ts'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const equals = 0x3d

export interface TextEncoding {
  /** Value of Content-Transfer-Encoding. */
  readonly name: string
  /** Returns the largest encoded size of this number of octets. */
  room(octets: number): number
  /**
   * Writes the encoded octets to `out` and returns their number. CR, LF and CRLF become CRLF. With `goesOn`, the last line continues in
   * the next piece unless it ends with a line break.
   */
  write(out: Buffer, octets: Buffer, goesOn: boolean): number
}

const isBreak = (octet: number | undefined): boolean => octet === lf || octet === cr

/** RFC 2045 §2.7. */
export const sevenBit: TextEncoding = {
  name: '7bit',
  room: (octets) => 2 * octets,
  write(out, octets) {
    let at = 0
    for (let i = 0; i < octets.length; i++) {
      const octet = octets[i] ?? 0
      if (octet > cr) {
        out[at++] = octet
        continue
      }
      if (octet === cr && octets[i + 1] === lf) i++
      if (isBreak(octet)) at = breakAt(out, at)
      else out[at++] = octet
    }
    return at
  },
}

/** Whether the text is ASCII without control characters, in lines of at most 998 octets (RFC 5322 §2.1.1). */
export function isSevenBit(octets: Buffer): boolean {
  let length = 0
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0
    if (isBreak(octet)) length = 0
    else if ((octet < space && octet !== tab) || octet > 0x7e || ++length > maxLineOctets) return false
  }
  return true
}

/** RFC 2045 §6.7: at most 76 octets in a line. */
const mostInLine = 76
/** A soft line break follows a blank if the line then has at least this length. */
const leastInLine = 50
const hex = Buffer.from('0123456789ABCDEF')

/** RFC 2045 §6.7. A soft line break never splits a character. */
export const quotedPrintable: TextEncoding = {
  name: 'quoted-printable',
  room: (octets) => Math.ceil(3 * octets * (1 + 3 / leastInLine)) + 3,
  write(out, octets, goesOn) {
    let at = 0
    let lineStart = 0
    let wordEnd = 0
    for (let i = 0; i < octets.length;) {
      const octet = octets[i] ?? 0
      if (octet > space && octet <= 0x7e && octet !== equals && at - lineStart < mostInLine - 1) {
        out[at++] = octet
        i++
        continue
      }
      if (isBreak(octet)) {
        i += octet === cr && octets[i + 1] === lf ? 2 : 1
        at = lineStart = breakAt(out, at)
        continue
      }
      const end = i + octetsOf(octet)
      const endsLine = end < octets.length ? isBreak(octets[end]) : !goesOn
      const isLiteral = isPrintable(octet) && !(isBlank(octet) && endsLine)
      const size = isLiteral ? 1 : 3 * (end - i)
      if (at + size - lineStart > (endsLine ? mostInLine : mostInLine - 1)) {
        const softAt = wordEnd - lineStart >= leastInLine ? wordEnd : at
        out.copyWithin(softAt + 3, softAt, at)
        out[softAt] = equals
        lineStart = breakAt(out, softAt + 1)
        at += 3
      }
      if (isLiteral) out[at++] = octet
      else for (let each = i; each < end; each++) at = escapeAt(out, at, octets[each] ?? 0)
      if (isBlank(octet) && isLiteral) wordEnd = at
      i = end
    }
    if (!goesOn || at === lineStart) return at
    out[at++] = equals
    return breakAt(out, at)
  },
}

const isBlank = (octet: number): boolean => octet === space || octet === tab
const isPrintable = (octet: number): boolean => (octet >= space && octet <= 0x7e && octet !== equals) || octet === tab

/** Length of a UTF-8 character with this first octet (RFC 3629 §3). */
const octetsOf = (first: number): number => (first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

function breakAt(out: Buffer, at: number): number {
  out[at] = cr
  out[at + 1] = lf
  return at + 2
}

function escapeAt(out: Buffer, at: number, octet: number): number {
  out[at] = equals
  out[at + 1] = hex[octet >> 4] ?? 0
  out[at + 2] = hex[octet & 15] ?? 0
  return at + 3
}
