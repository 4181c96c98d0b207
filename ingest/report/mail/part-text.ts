/** The text of a part: transfer encoding and charset undone as far as they can be, never refused. */
import { fromUtf7 } from '../../mime/charset/stateful.ts'
import { firstValue } from '../../mime/header-fields.ts'
import { textOfHtml } from '../../html/html-text.ts'
import { sanitizeHtml } from '../../html/sanitize-html.ts'
import type { ReportPart } from './report-mail.ts'

const maxEncoded = 1024 * 1024
const maxHtml = 128 * 1024

/** The decoded octets of a part: of the first MiB of its body, or of as much as is asked for. */
export function partOctets({ fields, body }: ReportPart, max = maxEncoded): Buffer {
  const encoding = (firstValue(fields, 'content-transfer-encoding') ?? '').trim().toLowerCase()
  const head = body.subarray(0, max)
  if (encoding === 'base64') return Buffer.from(head.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? fromQuotedPrintable(head) : head
}

/** The characters of a part, with LF as line end; HTML stays HTML. */
export const partCharacters = (part: ReportPart): string =>
  decoded(partOctets(part), part.parameters.get('charset') ?? '').replaceAll(/\r\n?/g, '\n')

/** The text of a part, with LF as line end; HTML becomes plain text. */
export function partText(part: ReportPart): string {
  const text = partCharacters(part)
  return part.type === 'text/html' ? textOfHtml(sanitizeHtml(text.slice(0, maxHtml))) : text
}

/** RFC 2045 §6.7, with whatever is no escape left as it stands. */
function fromQuotedPrintable(octets: Buffer): Buffer {
  const text = octets
    .toString('latin1')
    .replaceAll(/=[ \t]{0,100}\n/g, '')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}

function decoded(octets: Buffer, charset: string): string {
  if (/^utf-?7$|^unicode-1-1-utf-7$/i.test(charset)) return fromUtf7(octets.toString('latin1'))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets.includes(0x1b) ? nothingValid : octets)
  } catch {
    return byLabel(octets, charset) ?? new TextDecoder('windows-1252').decode(octets)
  }
}

/** Text with escape characters is not UTF-8, though its octets would pass for it. */
const nothingValid = Uint8Array.of(0xff)

function byLabel(octets: Buffer, charset: string): string | undefined {
  const isJapanese = /^iso-2022-jp/i.test(charset)
  if (octets.includes(0x1b)) return decodedAs(isJapanese ? charset : 'iso-2022-jp', octets, false)
  const found = isJapanese ? (decodedAs('euc-jp', octets, true) ?? decodedAs('shift_jis', octets, true)) : undefined
  return found ?? decodedAs(charset, octets, false)
}

function decodedAs(label: string, octets: Buffer, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(label, { fatal }).decode(octets)
  } catch {
    return undefined
  }
}
