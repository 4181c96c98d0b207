/** Strict Content-Transfer-Encoding (RFC 2045 §6): a body is decoded only if its content survives encoding again. */

/** RFC 5322 §2.1.1, without CRLF. */
const maxLineOctets = 998
const base64Line = 76
const qpLine = 76
const [cr, lf, equalsSign] = [0x0d, 0x0a, 0x3d]
const escapes = Array.from({ length: 256 }, (_, octet) => Buffer.from(`=${octet.toString(16).toUpperCase().padStart(2, '0')}`))

/** Decodes a body. Undefined if the encoding is unknown or the body is invalid. */
export function decodeBody(body: Buffer, encoding: string): Buffer | undefined {
  switch (encoding) {
    case '7bit':
    case '8bit':
    case 'binary':
      return body
    case 'base64':
      return decodeBase64(body.toString('latin1'))
    case 'quoted-printable':
      return decodeQuotedPrintable(body)
    default:
      return undefined
  }
}

/** Encodes a body and returns the encoding used: the given one, or quoted-printable if unencoded lines would be too long. */
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

function decodeQuotedPrintable(body: Buffer): Buffer | undefined {
  const decoded = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let start = 0; start <= body.length;) {
    const found = body.indexOf('\r\n', start)
    const end = withoutBlanks(body, start, found < 0 ? body.length : found)
    const isSoft = end > start && body[end - 1] === equalsSign
    const contentEnd = isSoft ? end - 1 : end
    for (let at = start; at < contentEnd; at++) {
      const octet = body[at] === equalsSign ? escaped(body, at, contentEnd) : body[at]
      if (octet === undefined) return undefined
      if (body[at] === equalsSign) at += 2
      decoded[length++] = octet
    }
    if (found < 0) break
    if (!isSoft) length += body.copy(decoded, length, found, found + 2)
    start = found + 2
  }
  return decoded.subarray(0, length)
}

/** The octet of an escape, or undefined without two hexadecimal digits. */
function escaped(body: Buffer, at: number, end: number): number | undefined {
  const digits = at + 2 < end ? body.toString('latin1', at + 1, at + 3) : ''
  return /^[\dA-F]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined
}

/** The end of a line without its trailing white space (RFC 2045 §6.7 (3)). */
function withoutBlanks(body: Buffer, start: number, end: number): number {
  while (end > start && (body[end - 1] === 0x20 || body[end - 1] === 0x09)) end--
  return end
}

/** Keeps line ends, and encodes a single CR or LF, so that it is preserved. Works in one pass, because a message has millions of octets. */
function encodeQuotedPrintable(octets: Buffer): Buffer {
  const encoded = Buffer.allocUnsafe(octets.length * 3 + Math.ceil(octets.length / 24) * 3)
  const isEnd = (at: number): boolean => at === octets.length || (octets[at] === cr && octets[at + 1] === lf)
  let length = 0
  let column = 0
  for (let at = 0; at < octets.length; at++) {
    if (isEnd(at)) {
      length += octets.copy(encoded, length, at, at + 2)
      column = 0
      at++
      continue
    }
    const octet = octets[at] ?? 0
    const isLast = isEnd(at + 1)
    const isPlain = (octet > 0x20 && octet < 0x7f && octet !== equalsSign) || ((octet === 0x20 || octet === 0x09) && !isLast)
    const width = isPlain ? 1 : 3
    // a soft line break takes one character of the line and does not split an escape
    if (column + width > (isLast ? qpLine : qpLine - 1)) {
      length += encoded.write('=\r\n', length, 'latin1')
      column = 0
    }
    if (isPlain) encoded[length] = octet
    else encoded.set(escapes[octet] ?? [], length)
    length += width
    column += width
  }
  return encoded.subarray(0, length)
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
