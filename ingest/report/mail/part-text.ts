/** Decodes the text of a part as far as possible. Invalid encodings and charsets never cause an error. */
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
import { firstValue } from '../../mime/header-fields.ts'
import { textOfHtml } from '../../html/html-text.ts'
import { boundedHtml } from '../../html/bounded-html.ts'
import { sanitizeHtml } from '../../html/sanitize-html.ts'
import type { ReportPart } from './report-mail.ts'

const maxEncoded = 1024 * 1024
const maxHtml = 128 * 1024

/** The decoded octets of a part, from at most `max` octets of its body. */
export function partOctets({ fields, body }: ReportPart, max = maxEncoded): Buffer {
  const encoding = /[\w-]+/.exec(firstValue(fields, 'content-transfer-encoding') ?? '')?.[0].toLowerCase()
  const head = body.subarray(0, max)
  if (encoding === 'base64') return Buffer.from(head.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? fromQuotedPrintable(head) : head
}

/** The text of a part with LF line ends; HTML stays HTML. */
const partCharacters = (part: ReportPart): string =>
  decodeOctets(partOctets(part), part.parameters.get('charset') ?? '', part.type === 'text/html').text.replaceAll(/\r\n?/g, '\n')

/** The text of a part with LF line ends; HTML is converted to plain text. */
export function partText(part: ReportPart): string {
  const text = partCharacters(part)
  return part.type === 'text/html' ? textOfHtml(sanitizeHtml(boundedHtml(text, maxHtml))) : text
}

/** Decodes quoted-printable (RFC 2045 §6.7). Invalid escapes stay unchanged. */
function fromQuotedPrintable(octets: Buffer): Buffer {
  const text = octets
    .toString('latin1')
    .replaceAll(/=[ \t]{0,100}\n/g, '')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}
