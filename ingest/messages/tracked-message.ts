/** Rewrites the HTML of a message for click and open tracking. All other octets stay unchanged. Runs on the rewriting thread. */
import type { UntrackedReason } from '#core/trace/trace-tracking.ts'
import { countedLength } from '../html/bounded-html.ts'
import { findHtmlSpans } from '../html/html-links.ts'
import { linkTarget } from '../html/link-target.ts'
import { BrokenMime, onlyField } from '../mime/mime-head.ts'
import { placedParts, type PlacedPart } from '../mime/mime-tree.ts'
import { decodeBody, encodeBody } from '../mime/transfer-encoding.ts'
import type { TrackingMarks } from '../threads/parser-thread.ts'

/** Thrown if the message is sent without tracking. */
export class Untracked extends Error {
  override readonly name = 'Untracked'
  readonly reason: UntrackedReason

  constructor(reason: UntrackedReason) {
    super(reason)
    this.reason = reason
  }
}

const maxEncoded = 8 * 1024 * 1024
/** Without the content of `data:` addresses. */
const maxHtml = 1024 * 1024
const maxLinks = 1000
const maxBlank = 1024
/** Charsets that use the octets below 128 for the ASCII characters only. */
const asciiCharset = /^(?:us-ascii|ascii|utf-?8|iso-8859-(?:[1-9]|1[0-6])|latin-?[1-9]|windows-125[0-8]|cp125[0-8]|koi8-[ru])$/i
const utf8Charset = /^utf-?8$/i
const encryptedTypes = new Set(['multipart/encrypted', 'application/pkcs7-mime', 'application/x-pkcs7-mime'])
const pgpBlock = '-----BEGIN PGP '

interface Link {
  readonly start: number
  readonly end: number
  readonly target: string
}

interface HtmlPart {
  readonly part: PlacedPart
  /** Decoded body. */
  readonly octets: Buffer
  /** Octets that count towards the limit. */
  readonly counted: number
  readonly links: readonly Link[]
  /** Offset of the tracking image. */
  readonly pixelAt: number
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly by: string | Buffer
}

/** The targets of the trackable links, in the order of the message. Throws `Untracked`. */
export function trackableLinks(raw: Buffer, ownUrl: string): string[] {
  return htmlParts(raw, ownUrl).flatMap(({ links }) => links.map(({ target }) => target))
}

/** The message with tracked links, and the image in its first HTML part. Throws `Untracked`. */
export function trackedMessage(raw: Buffer, ownUrl: string, { links, pixel }: TrackingMarks): Buffer {
  const edits: Edit[] = []
  let used = 0
  for (const [at, html] of htmlParts(raw, ownUrl).entries()) {
    const marks = (links && html.links.map((link, n) => ({ ...link, by: `"${escaped(links[used + n] ?? link.target)}"` }))) ?? []
    used += html.links.length
    const image = at === 0 && pixel !== undefined ? [{ start: html.pixelAt, end: html.pixelAt, by: imageOf(pixel) }] : []
    const changes = [...marks, ...image].toSorted((a, b) => a.start - b.start)
    if (changes.length > 0) edits.push(...partEdits(raw, html.part, spliced(html.octets, changes)))
  }
  return spliced(raw, edits)
}

/** The edits that replace the body of a part, and its Content-Transfer-Encoding if the encoding changes. */
function partEdits(raw: Buffer, { fields, bodyStart, bodyEnd, encoding }: PlacedPart, octets: Buffer): Edit[] {
  const encoded = encodeBody(octets, encoding)
  const lastLine = encoding === 'base64' && raw.toString('latin1', bodyEnd - 2, bodyEnd) === '\r\n' ? '\r\n' : ''
  const body = { start: bodyStart, end: bodyEnd, by: Buffer.concat([encoded.body, Buffer.from(lastLine)]) }
  if (encoded.encoding === encoding) return [body]
  const field = onlyField(fields, 'content-transfer-encoding')
  // a new field is inserted between the last field and the empty line
  const { start, end } = field ?? { start: bodyStart - 2, end: bodyStart - 2 }
  return [{ start, end, by: `Content-Transfer-Encoding: ${encoded.encoding}\r\n` }, body]
}

/** Applies edits, which must be sorted and must not overlap. */
function spliced(octets: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = []
  let done = 0
  for (const { start, end, by } of edits) {
    pieces.push(octets.subarray(done, start), typeof by === 'string' ? Buffer.from(by) : by)
    done = end
  }
  return Buffer.concat([...pieces, octets.subarray(done)])
}

const imageOf = (url: string): string => `<img src="${escaped(url)}" width="1" height="1" alt="">`
const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

function htmlParts(raw: Buffer, ownUrl: string): HtmlPart[] {
  const parts = partsOf(raw)
  if (parts[0]?.fields.some(({ name }) => name === 'dkim-signature')) throw new Untracked('dkim_signed')
  if (parts.some(({ type }) => type === 'multipart/signed')) throw new Untracked('signed')
  if (parts.some(({ type }) => encryptedTypes.has(type))) throw new Untracked('encrypted')
  const shown = parts.filter(({ attached }) => !attached)
  const html = shown.filter((part) => part.type === 'text/html' && !isBlank(raw, part))
  if (html.length === 0) throw new Untracked('no_html')
  if (shown.some((part) => part.type.startsWith('text/') && holdsPgp(raw, part))) throw new Untracked('pgp')
  if (html.reduce((sum, { bodyStart, bodyEnd }) => sum + bodyEnd - bodyStart, 0) > maxEncoded) throw new Untracked('too_large')
  const found = html.map((part) => htmlPart(raw, part, ownUrl))
  if (found.reduce((sum, { counted }) => sum + counted, 0) > maxHtml) throw new Untracked('too_large')
  if (found.reduce((sum, { links }) => sum + links.length, 0) > maxLinks) throw new Untracked('too_large')
  return found
}

function partsOf(raw: Buffer): PlacedPart[] {
  try {
    return placedParts(raw)
  } catch (error) {
    throw error instanceof BrokenMime ? new Untracked('broken_mime') : error
  }
}

/** A part that begins with more than `maxBlank` octets of white space counts as blank. */
const isBlank = (raw: Buffer, { bodyStart, bodyEnd }: PlacedPart): boolean =>
  raw.toString('latin1', bodyStart, Math.min(bodyEnd, bodyStart + maxBlank)).trim() === ''

function holdsPgp(raw: Buffer, { bodyStart, bodyEnd, encoding }: PlacedPart): boolean {
  const body = raw.subarray(bodyStart, bodyEnd)
  return ((body.length <= maxEncoded ? decodeBody(body, encoding) : undefined) ?? body).includes(pgpBlock)
}

function htmlPart(raw: Buffer, part: PlacedPart, ownUrl: string): HtmlPart {
  const charset = part.parameters.get('charset') ?? 'us-ascii'
  const octets = decodeBody(raw.subarray(part.bodyStart, part.bodyEnd), part.encoding)
  if (!octets) throw new Untracked('encoding')
  if (!asciiCharset.test(charset) || part.parameters.has('charset*') || octets.includes(0)) throw new Untracked('charset')
  const html = octets.toString('latin1')
  const counted = html.length <= maxHtml ? html.length : countedLength(html)
  if (counted > maxHtml) throw new Untracked('too_large')
  const isUtf8 = utf8Charset.test(charset)
  const { links, bodyEnd, base } = findHtmlSpans(html, (text) => (isUtf8 ? Buffer.from(text, 'latin1').toString('utf8') : text))
  return {
    ...{ part, octets, counted },
    links: links.flatMap(({ start, end, value }) => {
      // the server would receive non-ASCII characters in the charset of the document, which a rewritten link cannot preserve
      const target = isUtf8 || /^[\0-\x7f]*$/.test(value) ? linkTarget(value, ownUrl, base) : undefined
      return target === undefined ? [] : [{ start, end, target }]
    }),
    pixelAt: bodyEnd ?? html.trimEnd().length,
  }
}
