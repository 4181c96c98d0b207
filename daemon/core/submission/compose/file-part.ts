/** Composes a file as a MIME part, with the filename in the formats that mail programs read and an encoding that its type permits. */
import { octetStream } from '#config/mail/media-types.ts'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { Attachment } from './attachments.ts'
import type { Base64File } from './base64.ts'
import type { Steps } from '../../event-loop.ts'
import { headerLine, headerWithParameters, maxLineOctets, type Part } from './part.ts'

// Octets of a 76-octet line that remain for the value after the parameter's name.
const maxValue = 52

/**
 * Composes a file as a part. By default, a file with a content id is inline and other files are attachments (RFC 2183 §2). Texts and
 * messages are always attachments by default, because mail programs show inline ones as part of the body.
 */
export function* filePart({ filename, contentType, content, contentId, disposition }: Attachment): Steps<Part> {
  const encoded = contentType.startsWith('message/')
    ? yield* messageBody(content)
    : { type: contentType, encoding: 'base64', body: [content] }
  const isInline = contentId !== undefined && !/^(?:text|message)\//.test(encoded.type)
  return {
    headers: [
      headerWithParameters(`Content-Type: ${encoded.type}`, [nameParameter(headerLine(filename))]),
      `Content-Transfer-Encoding: ${encoded.encoding}`,
      headerWithParameters(`Content-Disposition: ${disposition ?? (isInline ? 'inline' : 'attachment')}`, filenameParameters(filename)),
      ...(contentId === undefined ? [] : [headerLine(`Content-ID: <${contentId}>`)]),
    ],
    body: encoded.body,
  }
}

interface EncodedBody {
  readonly type: string
  readonly encoding: string
  readonly body: Part['body']
}

/**
 * A message must not be encoded (RFC 2046 §5.2.1). It is sent unencoded if it is valid 7bit; otherwise as octet-stream, which preserves
 * every octet.
 */
function* messageBody(content: Base64File): Steps<EncodedBody> {
  const octets = content.decoded()
  if (content.size > stepOctets) yield
  if (beginsWithHeader(octets) && (yield* isSevenBit(octets))) return { type: 'message/rfc822', encoding: '7bit', body: slices(octets) }
  return { type: octetStream, encoding: 'base64', body: [content] }
}

const cr = 0x0d
const lf = 0x0a
const stepOctets = 524_288
/** Maximum header size of an unencoded message. A longer header may be an attack on readers. */
const maxHeaderOctets = 262_144

/** ASCII without NUL, with CRLF as the only break of lines and lines of at most 998 octets (RFC 2045 §2.7, RFC 5322 §2.1.1). */
function* isSevenBit(octets: Buffer): Steps<boolean> {
  let lineStart = 0
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] ?? 0
    if (octet === 0 || octet > 0x7f) return false
    if (octet === cr && octets[at + 1] !== lf) return false
    if (octet === lf) {
      if (octets[at - 1] !== cr || at - 1 - lineStart > maxLineOctets) return false
      lineStart = at + 1
    }
    if (at % stepOctets === stepOctets - 1) yield
  }
  return octets.length - lineStart <= maxLineOctets
}

function slices(octets: Buffer): Buffer[] {
  const all: Buffer[] = []
  for (let at = 0; at < octets.length; at += stepOctets) all.push(octets.subarray(at, at + stepOctets))
  return all
}

/**
 * Returns true if the file begins with header fields, possibly folded, and an empty line (RFC 5322 §2.2). Other files are not messages, and
 * readers interpret them differently.
 */
function beginsWithHeader(octets: Buffer): boolean {
  const head = octets.toString('latin1', 0, maxHeaderOctets)
  const end = head.indexOf('\r\n\r\n')
  if (end < 0 && octets.length > maxHeaderOctets) return false
  const lines = head.slice(0, Math.max(0, end)).split('\r\n')
  return lines.every((line, i) => /^[!-9;-~]+:/.test(line) || (i > 0 && /^[ \t]/.test(line)))
}

/**
 * Repeats the filename as a parameter of the type, because Outlook and other programs ignore RFC 2231. Encoded words in quotes violate RFC
 * 2047 §5, but all these programs read and write them.
 */
function nameParameter(filename: string): string {
  return `name="${isAscii(filename) ? filename : encodeWord(filename, 'B', maxValue).replaceAll(' ', '\r\n ')}"`
}

/** RFC 2183 §2.3; RFC 2231 §3 and §4.1 for non-ASCII names: percent-encoded chunks that never split a character. */
function filenameParameters(filename: string): string[] {
  if (isAscii(filename)) return [`filename="${filename}"`]
  const chunks = ["UTF-8''"]
  for (const char of filename) {
    const octets = encodeURIComponent(char).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    const last = chunks.length - 1
    if (`${chunks[last]}${octets}`.length <= maxValue) chunks[last] += octets
    else chunks.push(octets)
  }
  return chunks.length === 1 ? [`filename*=${chunks[0]}`] : chunks.map((chunk, i) => `filename*${i}*=${chunk}`)
}

/** Returns true for an ASCII name. Filenames contain neither quotes nor backslashes, so quotes suffice. */
const isAscii = (filename: string): boolean => /^[ !#-[\]-~]*$/.test(filename)
