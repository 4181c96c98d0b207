/** Messages that attack their parser, with a generator and, if they are refused, the reason. */

const tooMany = 'The message has too many parts or too long header fields to be opened.'
const mixed = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n'
const mebi = 1024 * 1024

const text = (content: string): (() => Buffer) => {
  return () => Buffer.from(content, 'latin1')
}
const filled = (head: string, unit: string | Buffer, size: number): (() => Buffer) => {
  return () => Buffer.concat([Buffer.from(head), Buffer.alloc(size, unit)])
}
const besideHtml = (charset: string, unit: string | Buffer): (() => Buffer) =>
  filled(
    `${mixed}--b\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--b\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n`,
    unit,
    5 * mebi,
  )

const file = (encoding: string): string => `Content-Type: image/png\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`

function nested(depth: number): Buffer {
  const levels = Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)
  return Buffer.from(`Subject: n\r\n${levels.join('')}\r\nx`)
}

/** Title, generator, and the sentence if the message must be refused. */
export const hostileMail: readonly (readonly [string, () => Buffer, string?])[] = [
  ['nothing at all', text('')],
  ['one line end', text('\r\n')],
  ['header fields only', text('Subject: x')],
  ['a body only', text('\r\nbody')],
  ['NULs in header fields and body', text('Subject: a\0b\r\nFrom: \0@x\r\n\r\n\0\0')],
  ['a megabyte of NULs', filled('', '\0', mebi), tooMany],
  ['all octets', () => Buffer.from(Array.from({ length: 64 * 256 }, (_, at) => at % 256))],
  ['900 nested multiparts', () => nested(900)],
  ['1,100 nested multiparts', () => nested(1100), tooMany],
  ['900 parts', text(`${mixed}${'--b\r\n\r\nx\r\n'.repeat(900)}--b--`)],
  ['10,000 parts', text(`${mixed}${'--b\r\n\r\nx\r\n'.repeat(10_000)}--b--`), tooMany],
  ['a header field of 1 MiB', text(`Subject: ${'x'.repeat(mebi)}\r\n\r\nx`), tooMany],
  ['20,000 header fields', text(`${'A: 1\r\n'.repeat(20_000)}\r\nx`)],
  ['60,000 recipients', text(`To: ${'a@b,'.repeat(60_000)}\r\n\r\nx`)],
  ['many parts with long header blocks', text(`${mixed}${`--b\r\nTo: ${'a@b,'.repeat(50_000)}\r\n\r\nx\r\n`.repeat(8)}`), tooMany],
  ['open parentheses', text(`From: ${'('.repeat(240_000)}\r\n\r\nx`)],
  ['groups in groups', text(`From: ${'a:'.repeat(50_000)}\r\n\r\nx`)],
  ['parameters without end', text(`Content-Type: text/plain; ${'a*0*=b;'.repeat(30_000)}\r\n\r\nx`)],
  ['encoded words without end', text(`Subject: ${'=?utf-8?q?a?= '.repeat(15_000)}\r\n\r\nx`)],
  ['a multipart without a boundary', text('Content-Type: multipart/mixed\r\n\r\n--\r\n\r\nx')],
  ['an empty boundary', text('Content-Type: multipart/mixed; boundary=""\r\n\r\n--\r\n\r\nx\r\n----')],
  ['a boundary that never comes', text(`${mixed}x`)],
  ['a message inside itself', text('Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n'.repeat(900))],
  ['unknown character sets', text('Content-Type: text/plain; charset="\xff?*\'"\r\n\r\n\xff\xfe')],
  ['UTF-16 of odd length', text('Content-Type: text/plain; charset=utf-16\r\n\r\n\xff\xfea\0b')],
  ['unknown encodings', text('Content-Transfer-Encoding: x-zip\r\n\r\n\xff')],
  ['broken base64', text('Content-Transfer-Encoding: base64\r\n\r\n=A=!\xff==')],
  ['broken quoted-printable', text('Content-Transfer-Encoding: quoted-printable\r\n\r\n=\r\n=4=ZZ=\xff')],
  ['blanks in quoted-printable', filled('Content-Transfer-Encoding: quoted-printable\r\n\r\n', ' ', 3 * mebi)],
  ['a quoted-printable file of line ends', filled(`${file('quoted-printable')}`, '\n', 16 * mebi)],
  ['a uuencoded file of short lines', filled(`${file('x-uuencode')}begin 644 x\r\n`, '!\n', 16 * mebi)],
  ['a uuencoded file without a beginning', filled(file('x-uuencode'), 'begin\n', 16 * mebi)],
  ['flowed lines', filled('Content-Type: text/plain; format=flowed\r\n\r\n', '> \n', 4 * mebi)],
  ['quote marks in flowed text', filled('Content-Type: text/plain; format=flowed\r\n\r\n', '>', 4 * mebi)],
  ['32 MiB of text with wide characters', filled('Content-Type: text/plain; charset=utf-8\r\n\r\n\u{1f600}', 'abc defg\n', 32 * mebi)],
  ['8 MiB of ISO-2022-JP', filled('Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n', '\x1b$B$"', 8 * mebi)],
  ['8 MiB of nested tags', filled('Content-Type: text/html\r\n\r\n', '<b>', 8 * mebi)],
  ['tags closed wrongly', filled('Content-Type: text/html\r\n\r\n', '<b></i>', mebi)],
  ['braces in a style', filled('Content-Type: text/html\r\n\r\n<b style="', 'a{', 900_000)],
  ['text next to HTML that needs escaping', besideHtml('utf-8', '<\n')],
  ['one-octet characters that grow', besideHtml('windows-1252', Buffer.from([0x80]))],
  ['200 KiB of carriage returns in the header', text(`Subject: ${'\r'.repeat(200 * 1024)}x\r\n\r\nx`)],
  ['at signs', filled('\r\n', 'a@', 2 * mebi)],
  ['8 MiB of line ends', filled('\r\n', '\n', 8 * mebi)],
]
