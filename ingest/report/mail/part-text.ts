/** The text of a part: transfer encoding and charset undone as far as they can be, never refused. */
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
import { firstValue } from '../../mime/header-fields.ts'
import { textOfHtml } from '../../html/html-text.ts'
import { boundedHtml } from '../../html/bounded-html.ts'
import { sanitizeHtml } from '../../html/sanitize-html.ts'
import type { ReportPart } from './report-mail.ts'

const maxEncoded = 1024 * 1024
const maxHtml = 128 * 1024

/** The decoded octets of a part: of the first MiB of its body, or of as much as is asked for. */
export function partOctets({ fields, body }: ReportPart, max = maxEncoded): Buffer {
  const encoding = /[\w-]+/.exec(firstValue(fields, 'content-transfer-encoding') ?? '')?.[0].toLowerCase()
  const head = body.subarray(0, max)
  if (encoding === 'base64') return Buffer.from(head.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? fromQuotedPrintable(head) : head
}

/** The characters of a part, with LF as line end; HTML stays HTML. */
const partCharacters = (part: ReportPart): string =>
  decodeOctets(partOctets(part), part.parameters.get('charset') ?? '', part.type === 'text/html').text.replaceAll(/\r\n?/g, '\n')

/** The text of a part, with LF as line end; HTML becomes plain text. */
export function partText(part: ReportPart): string {
  const text = partCharacters(part)
  return part.type === 'text/html' ? textOfHtml(sanitizeHtml(boundedHtml(text, maxHtml))) : text
}

/** RFC 2045 §6.7, with whatever is no escape left as it stands. */
function fromQuotedPrintable(octets: Buffer): Buffer {
  const text = octets
    .toString('latin1')
    .replaceAll(/=[ \t]{0,100}\n/g, '')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}
