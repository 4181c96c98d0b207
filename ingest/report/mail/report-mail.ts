/**
 * Parses the outermost parts of a report mail (RFC 2046 §5.1). It is lenient, because many bounce generators produce invalid MIME. Embedded
 * messages are leaves and are not parsed as reports.
 */
import { headerFields, type HeaderField } from '../../mime/header-fields.ts'

/** One leaf. The body is undecoded, with LF line ends. */
export interface ReportPart {
  readonly fields: readonly HeaderField[]
  /** Media type in lower case; default `text/plain`. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly body: Buffer
}

export interface ReportMail {
  readonly fields: readonly HeaderField[]
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly parts: readonly ReportPart[]
}

const maxOctets = 32 * 1024 * 1024
const maxLeaves = 100
const maxDepth = 8
/** Limit of places that look like a delimiter. Only a message built to cost time has more. */
const maxMarks = 10_000
const maxBoundary = 200
const maxHead = 16 * 1024
const parameter = /;\s*([^\s=;"]{1,100})\s*=\s*(?:"([^"]{0,500})"|([^;]{0,500}))/g

/** Parses a mail. Accepts LF, CRLF, CR CR LF and bare CR as line ends. Reads the first 32 MiB. Never throws. */
export function openReportMail(raw: Uint8Array): ReportMail {
  const whole = withLineFeeds(raw)
  const root = partOf(whole)
  const parts: ReportPart[] = []
  const waiting = [{ part: root, depth: 0 }]
  for (let next = waiting.pop(); next && parts.length < maxLeaves; next = waiting.pop()) {
    const { part, depth } = next
    const inner = part.type.startsWith('multipart/') && depth < maxDepth ? pieces(part) : []
    if (inner.length === 0) parts.push(part)
    else waiting.push(...inner.map((piece) => ({ part: partOf(piece), depth: depth + 1 })).toReversed())
  }
  return { fields: root.fields, type: root.type, parameters: root.parameters, parts }
}

/** Converts line ends: LF, CR, or any number of CR before LF, which gateways produce from CRLF. */
export function withLineFeeds(raw: Uint8Array): Buffer {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, maxOctets))
  if (!octets.includes(0x0d)) return octets
  const plain = Buffer.allocUnsafe(octets.length)
  let length = 0
  let at = 0
  while (at < octets.length) {
    let end = at
    while (octets[end] === 0x0d) end++
    // a run of CR belongs to the next LF; otherwise each CR ends a line
    if (octets[end] === 0x0a) at = end
    if (end > at) {
      plain.fill(0x0a, length, length + end - at)
      length += end - at
      at = end
    } else plain[length++] = octets[at++] ?? 0
  }
  return plain.subarray(0, length)
}

const doubledMin = 4

/**
 * Removes the empty line after every line of a mail with LF line ends. It results from CR CR LF if each CR was converted to a line end.
 * Header fields that servers prepended later stay unchanged.
 */
export function withSingleLineEnds(octets: Buffer): Buffer {
  const start = octets.indexOf('\n\n')
  const head = octets.toString('latin1', 0, Math.min(Math.max(start, 0), maxHead))
  // the header ends here
  if (start < 0 || (/^from:/im.test(head) && /^date:/im.test(head))) return octets
  // unless the header continues after the empty line, the mail is unchanged
  if (!/^(?:[!-9;-~]{1,100}:|[ \t])/.test(octets.toString('latin1', start + 2, start + 202))) return octets
  const lines: Buffer[] = [octets.subarray(0, start + 1)]
  for (let at = start + 2; at < octets.length;) {
    const feed = octets.indexOf(0x0a, at)
    const end = feed < 0 ? octets.length : feed + 1
    if (end < octets.length && octets[end] !== 0x0a) return octets
    lines.push(octets.subarray(at, end))
    at = end + 1
  }
  return lines.length >= doubledMin ? Buffer.concat(lines) : octets
}

function partOf(octets: Buffer): ReportPart {
  const fields = headerFields(octets)
  const contentType = fields.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  const type = /^\s*([\w.+-]+\/[\w.+-]+)/.exec(contentType)?.[1]?.toLowerCase() ?? 'text/plain'
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain] of contentType.matchAll(parameter)) {
    const key = name.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted ?? plain?.trim() ?? '')
  }
  return { fields, type, parameters, body: octets.subarray(bodyStart(octets)) }
}

function bodyStart(octets: Buffer): number {
  if (octets[0] === 0x0a) return 1
  const blank = octets.indexOf('\n\n')
  return blank < 0 ? octets.length : blank + 2
}

/**
 * The parts of a multipart with their headers. Without a closing delimiter, the last part ends with the mail. Empty if there is no
 * delimiter.
 */
function pieces({ body, parameters }: ReportPart): Buffer[] {
  const boundary = parameters.get('boundary') ?? guessedBoundary(body)
  if (boundary === '' || boundary.length > maxBoundary) return []
  const mark = `--${boundary}`
  const found: Buffer[] = []
  let start: number | undefined
  let marks = 0
  for (let at = body.indexOf(mark); at >= 0 && found.length < maxLeaves; at = body.indexOf(mark, at + mark.length)) {
    if (++marks > maxMarks) break
    if (at > 0 && body[at - 1] !== 0x0a) continue
    const feed = body.indexOf(0x0a, at + mark.length)
    const stop = feed < 0 ? body.length : feed
    const rest = body.toString('latin1', at + mark.length, Math.min(stop, at + mark.length + 80)).trimEnd()
    if (rest !== '' && rest !== '--') continue
    if (start !== undefined) found.push(body.subarray(start, Math.max(start, at - 1)))
    start = rest === '--' ? undefined : Math.min(stop + 1, body.length)
    if (start === undefined) return found
  }
  if (start !== undefined) found.push(body.subarray(start))
  return found
}

/** The boundary of a multipart without a boundary parameter: the first line with two hyphens directly before a content field. */
function guessedBoundary(body: Buffer): string {
  return /(?:^|\n)--([^\n]{1,100})\ncontent-/i.exec(body.toString('latin1', 0, 16 * 1024))?.[1]?.trimEnd() ?? ''
}
