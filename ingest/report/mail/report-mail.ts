/**
 * The outermost parts of a report mail (RFC 2046 §5.1), read as leniently as reports need: what generators of bounces do to MIME is
 * no reason to lose a bounce. Messages inside are leaves, without a second report.
 */
import { headerFields, type HeaderField } from '../../mime/header-fields.ts'

/** One leaf. The body is as on the wire, with LF as line end. */
export interface ReportPart {
  readonly fields: readonly HeaderField[]
  /** Media type in lower case; `text/plain` when none is given. */
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
/** Places that look like a delimiter; more are made to cost time. */
const maxMarks = 10_000
const maxBoundary = 200
const maxHead = 16 * 1024
const parameter = /;\s*([^\s=;"]{1,100})\s*=\s*(?:"([^"]{0,500})"|([^;]{0,500}))/g

/** Takes LF, CRLF, CR CR LF and bare CR as line ends. Of a mail over 32 MiB the beginning is read. Never throws. */
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

/** A line ends with LF, with CR, or with any number of CR before LF, as gateways make of CRLF that they do not expect. */
export function withLineFeeds(raw: Uint8Array): Buffer {
  const octets = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, maxOctets))
  if (!octets.includes(0x0d)) return octets
  const plain = Buffer.allocUnsafe(octets.length)
  let length = 0
  let at = 0
  while (at < octets.length) {
    let end = at
    while (octets[end] === 0x0d) end++
    // a run of CR belongs to the LF behind it; otherwise each ends a line
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
 * A mail with LF as line end, all of whose lines have an empty one behind them: the result of CR CR LF where each CR was
 * taken for a line end. What servers put before it since then is left as it is.
 */
export function withSingleLineEnds(octets: Buffer): Buffer {
  const start = octets.indexOf('\n\n')
  const head = octets.toString('latin1', 0, Math.min(Math.max(start, 0), maxHead))
  // a header of its own ends there
  if (start < 0 || (/^from:/im.test(head) && /^date:/im.test(head))) return octets
  // what stands behind goes on with the header, or all of it is as it was sent
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

/** The parts of a multipart, each from its header on; a missing end is where the mail ends. None when no delimiter is there. */
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

/** The boundary of a multipart that names none: the first line with two hyphens before a header field. */
function guessedBoundary(body: Buffer): string {
  return /(?:^|\n)--([^\n]{1,100})\ncontent-/i.exec(body.toString('latin1', 0, 16 * 1024))?.[1]?.trimEnd() ?? ''
}
