/** Content-Transfer-Encoding (RFC 2045 §6) over octets, strict: what would not come back as it was is not decoded. */

/** RFC 5322 §2.1.1, without CRLF. */
const maxLineOctets = 998
const base64Line = 76
const qpLine = 76

/** The octets of a body; undefined when the encoding is unknown or broken. */
export function decodeBody(body: Buffer, encoding: string): Buffer | undefined {
  switch (encoding) {
    case '7bit':
    case '8bit':
    case 'binary':
      return body
    case 'base64':
      return decodeBase64(body.toString('latin1'))
    case 'quoted-printable':
      return decodeQuotedPrintable(body.toString('latin1'))
    default:
      return undefined
  }
}

/** Encoded octets, and the encoding: the given one, or quoted-printable where lines became too long to go without. */
export function encodeBody(octets: Buffer, encoding: string): { readonly body: Buffer; readonly encoding: string } {
  if (encoding === 'base64') return { body: encodeBase64(octets), encoding }
  if (encoding !== 'quoted-printable' && hasShortLines(octets)) return { body: octets, encoding }
  return { body: encodeQuotedPrintable(octets), encoding: 'quoted-printable' }
}

function decodeBase64(text: string): Buffer | undefined {
  const plain = text.replaceAll(/[ \t\r\n]/g, '')
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain) ? Buffer.from(plain, 'base64') : undefined
}

function encodeBase64(octets: Buffer): Buffer {
  const lines = octets.toString('base64').match(new RegExp(`.{1,${base64Line}}`, 'g')) ?? []
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

function decodeQuotedPrintable(text: string): Buffer | undefined {
  const lines = text.split('\r\n').map(withoutTrailingBlanks)
  let joined = ''
  for (const [at, line] of lines.entries()) {
    const goesOn = line.endsWith('=')
    const content = goesOn ? line.slice(0, -1) : line
    if (/=(?![0-9A-Fa-f]{2})/.test(content)) return undefined
    joined += goesOn || at === lines.length - 1 ? content : `${content}\r\n`
  }
  const octets = joined.replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1')
}

/** RFC 2045 §6.7 (3). */
function withoutTrailingBlanks(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end--
  return line.slice(0, end)
}

/** Line ends stay line ends; a CR or LF alone is encoded, so that it stays alone. */
function encodeQuotedPrintable(octets: Buffer): Buffer {
  const lines = octets.toString('latin1').split('\r\n')
  return Buffer.from(lines.map(quotedLine).join('\r\n'), 'latin1')
}

function quotedLine(line: string): string {
  const escaped = line.replaceAll(/[^\t -<>-~]|[\t ]$/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
  const pieces: string[] = []
  let start = 0
  while (escaped.length - start > qpLine) {
    // a soft line break takes one of the characters, and does not cut an escape
    let stop = start + qpLine - 1
    if (escaped[stop - 1] === '=') stop -= 1
    else if (escaped[stop - 2] === '=') stop -= 2
    pieces.push(escaped.slice(start, stop))
    start = stop
  }
  return [...pieces, escaped.slice(start)].join('=\r\n')
}

function hasShortLines(octets: Buffer): boolean {
  for (let start = 0; start < octets.length;) {
    const feed = octets.indexOf(0x0a, start)
    const next = feed < 0 ? octets.length + 2 : feed + 1
    if (next - 2 - start > maxLineOctets) return false
    start = next
  }
  return true
}
