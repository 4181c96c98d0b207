/** A file as a part of a message: its name in the forms that mail programs read, its octets in an encoding that its type permits. */
import { octetStream } from '#config/mail/media-types.ts'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { Attachment } from './attachments.ts'
import type { Base64File } from './base64.ts'
import type { Steps } from '../../event-loop.ts'
import { headerLine, headerWithParameters, maxLineOctets, type Part } from './part.ts'

// Of a line of 76, what is left beside the name of the parameter.
const maxValue = 52

/**
 * By default, a file with a content id is shown in place, another one is attached (RFC 2183 §2). So are texts and messages, whatever
 * their content id: in place, mail programs take them for more of the body and do not show them as files.
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

/** A message may not be encoded (RFC 2046 §5.2.1): one that can go as it is does; any other goes as octets, which change nothing. */
function* messageBody(content: Base64File): Steps<EncodedBody> {
  const octets = content.decoded()
  if (content.size > stepOctets) yield
  if (beginsWithHeader(octets) && (yield* isSevenBit(octets))) return { type: 'message/rfc822', encoding: '7bit', body: slices(octets) }
  return { type: octetStream, encoding: 'base64', body: [content] }
}

const cr = 0x0d
const lf = 0x0a
const stepOctets = 524_288
/** The header of a message that goes as it is; a longer one is an attack on readers. */
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

/** Fields, each perhaps folded, and an empty line (RFC 5322 §2.2): what has none is no message, and readers differ over what it is. */
function beginsWithHeader(octets: Buffer): boolean {
  const head = octets.toString('latin1', 0, maxHeaderOctets)
  const end = head.indexOf('\r\n\r\n')
  if (end < 0 && octets.length > maxHeaderOctets) return false
  const lines = head.slice(0, Math.max(0, end)).split('\r\n')
  return lines.every((line, i) => /^[!-9;-~]+:/.test(line) || (i > 0 && /^[ \t]/.test(line)))
}

/**
 * The name once more, with the type: Outlook and others read it here and not by RFC 2231. Encoded words inside quotes are
 * against RFC 2047 §5 and what all of them write and read.
 */
function nameParameter(filename: string): string {
  return `name="${isAscii(filename) ? filename : encodeWord(filename, 'B', maxValue).replaceAll(' ', '\r\n ')}"`
}

/** RFC 2183 §2.3, and for other than ASCII RFC 2231 §3 and §4.1: every chunk percent-encoded, none ending inside a character. */
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

/** Names have neither quotes nor backslashes, so that one of ASCII needs no more than quotes. */
const isAscii = (filename: string): boolean => /^[ !#-[\]-~]*$/.test(filename)
