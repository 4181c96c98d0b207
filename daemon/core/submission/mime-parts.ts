/** MIME parts of a composed message: text and HTML as alternatives, inline files related to the HTML, other files mixed in. */
import { hash } from 'node:crypto'
import { buildHeaderParam, foldLines } from 'nodemailer/lib/mime-funcs'
import { encode as quotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp'

export interface Attachment {
  /** A base name without path or controls. */
  readonly filename: string
  readonly contentType: string
  readonly content: Uint8Array
  /** Given for inline files that the HTML refers to by `cid:`. */
  readonly contentId: string | undefined
}

/** A part: its header lines without a final CRLF, and its body. */
export interface Part {
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

/** RFC 5322 §2.1.1: 998 octets without CRLF. */
const lineOctetsMax = 998

/** Boundaries come from the trace id: unique, and the same message composes to the same bytes. */
export type Boundary = (level: string) => string
export const boundaryFrom =
  (traceId: string): Boundary =>
  (level) =>
    `=_${level}_${hash('sha256', `boundary ${traceId} ${level}`).slice(0, 32)}`

/** The text and HTML of a message; with neither, an empty text. */
export function bodyPart(
  text: string | undefined,
  html: string | undefined,
): { readonly text: Part | undefined; readonly html: Part | undefined } {
  return {
    text: text !== undefined || html === undefined ? textPart('text/plain', text ?? '') : undefined,
    html: html === undefined ? undefined : textPart('text/html', html),
  }
}

/** A header field before folding. A break in it is a defect of whoever checked the request: nothing may add fields of its own. */
export function headerLine(line: string): string {
  if (/[\r\n\0]/.test(line)) throw new TypeError('a header field must not hold a line break or NUL')
  return line
}

/** RFC 2046 §5.1: mixed( alternative( text, related( html, inline… ) ), file… ), leaving out levels with one member. */
export function joinParts(
  body: { readonly text: Part | undefined; readonly html: Part | undefined },
  attachments: readonly Attachment[],
  boundary: Boundary,
): Part {
  const inline = attachments.filter((a) => a.contentId !== undefined && body.html)
  const files = attachments.filter((a) => !inline.includes(a))
  const html = body.html && multipart('related', [body.html, ...inline.map(filePart)], boundary)
  const alternatives = [body.text, html].filter((part) => part !== undefined)
  return multipart('mixed', [multipart('alternative', alternatives, boundary), ...files.map(filePart)], boundary)
}

function multipart(kind: 'mixed' | 'alternative' | 'related', parts: readonly Part[], boundary: Boundary): Part {
  const [only] = parts
  if (only && parts.length === 1) return only
  const mark = boundary(kind)
  const open = parts.map((part) => `--${mark}\r\n${part.headers.join('\r\n')}\r\n\r\n`)
  const close = `\r\n--${mark}--\r\n`
  const headers = [`Content-Type: multipart/${kind};\r\n boundary="${mark}"`]
  if (parts.every((part) => typeof part.body === 'string')) {
    return { headers, body: parts.map((part, i) => (open[i] ?? '') + (part.body as string)).join('\r\n') + close }
  }
  const pieces = parts.flatMap((part, i) => [Buffer.from((i > 0 ? '\r\n' : '') + (open[i] ?? '')), Buffer.from(part.body)])
  return { headers, body: Buffer.concat([...pieces, Buffer.from(close)]) }
}

function textPart(type: string, text: string): Part {
  const body = text.replaceAll(/\r\n|\r|\n/g, '\r\n')
  const plain = /^[\r\n\t\u0020-\u007e]*$/.test(body) && longestLine(body) <= lineOctetsMax
  const encoding = plain ? '7bit' : 'quoted-printable'
  return {
    headers: [`Content-Type: ${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`],
    body: plain ? body : wrapQuotedPrintable(quotedPrintable(body)),
  }
}

function filePart({ filename, contentType, content, contentId }: Attachment): Part {
  const disposition = contentId === undefined ? 'attachment' : 'inline'
  const parameters = buildHeaderParam('filename', filename, 50).map(
    ({ key, value }) => `${key}=${/^[\w.*'%-]+$/.test(value) ? value : JSON.stringify(value)}`,
  )
  return {
    headers: [
      headerLine(`Content-Type: ${contentType}`),
      'Content-Transfer-Encoding: base64',
      foldLines(`Content-Disposition: ${[disposition, ...parameters].join('; ')}`, 76),
      ...(contentId === undefined ? [] : [headerLine(`Content-ID: <${contentId}>`)]),
    ],
    body: base64Lines(content),
  }
}

/** RFC 2045 §6.8: at most 76 characters a line. */
function base64Lines(content: Uint8Array): Buffer {
  const step = 57
  const lines = Math.ceil(content.length / step)
  const out = Buffer.allocUnsafe(Math.ceil(content.length / 3) * 4 + lines * 2)
  let at = 0
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  for (let i = 0; i < bytes.length; i += step) {
    at += out.write(bytes.toString('base64', i, Math.min(i + step, bytes.length)), at, 'latin1')
    at += out.write('\r\n', at, 'latin1')
  }
  return out.subarray(0, at)
}

function longestLine(text: string): number {
  let longest = 0
  for (let start = 0; start <= text.length;) {
    const end = text.indexOf('\r\n', start)
    const stop = end < 0 ? text.length : end
    longest = Math.max(longest, stop - start)
    start = stop + 2
  }
  return longest
}
