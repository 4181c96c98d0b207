/** A text as the body of a part, encoded in steps, as texts have up to many megabytes. */
import { encode as quotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp'
import type { Steps } from '../../event-loop.ts'
import { maxLineOctets, type Part } from './part.ts'

/** Characters that are encoded in one step: some five milliseconds at worst. */
const stepUnits = 65_536

/** The text in 7bit where its characters and lines permit that, else in quoted-printable (RFC 2045 §6.7). */
export function* textPart(type: string, text: string): Steps<Part> {
  const plain = yield* plainBody(text)
  return {
    headers: [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${plain ? '7bit' : 'quoted-printable'}`],
    body: plain ?? (yield* quotedBody(text)),
  }
}

function* plainBody(text: string): Steps<string[] | undefined> {
  const body: string[] = []
  for (const piece of pieces(text)) {
    const lines = withLineEnds(piece)
    // a piece that ends inside a line is one long line from its start or behind its last break
    if (!/^[\r\n\t\u0020-\u007e]*$/.test(lines) || !hasShortLines(lines) || (piece.length === stepUnits && !lines.endsWith('\r\n')))
      return undefined
    body.push(lines)
    if (text.length > stepUnits) yield
  }
  return body
}

function* quotedBody(text: string): Steps<string[]> {
  const body: string[] = []
  let left = text.length
  for (const piece of pieces(text)) {
    const lines = wrapQuotedPrintable(quotedPrintable(withLineEnds(piece)))
    left -= piece.length
    // RFC 2045 §6.7 (5): a soft line break where a line goes on in the next piece
    body.push(left > 0 && !lines.endsWith('\r\n') ? `${lines}=\r\n` : lines)
    if (text.length > stepUnits) yield
  }
  return body
}

const withLineEnds = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n')

/** Pieces that end behind a line break where there is one, and never inside a line break or a character. */
function* pieces(text: string): Iterable<string> {
  for (let at = 0; at < text.length || at === 0;) {
    const end = at + stepUnits >= text.length ? text.length : endOf(text, at)
    yield text.slice(at, end)
    if (end === text.length) return
    at = end
  }
}

function endOf(text: string, at: number): number {
  const end = at + stepUnits
  // within the piece: in a text without breaks, a search in the whole would go back to its start for each piece
  const broken = text.slice(at, end).lastIndexOf('\n') + 1
  if (broken > 0) return at + broken
  return /[\r\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end
}

/** Whether all lines between CRLF keep to RFC 5322 §2.1.1. Of text in ASCII, characters are octets. */
function hasShortLines(text: string): boolean {
  for (let start = 0; start <= text.length;) {
    const end = text.indexOf('\r\n', start)
    const stop = end < 0 ? text.length : end
    if (stop - start > maxLineOctets) return false
    start = stop + 2
  }
  return true
}
