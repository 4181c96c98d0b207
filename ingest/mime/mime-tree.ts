/** Locates the parts of a message by their places in its octets (RFC 2046 §5.1), for changes that keep all other octets. */
import {
  BrokenMime,
  onlyField,
  parseParameterized,
  readMimeHead,
  withoutComments,
  type Parameterized,
  type PlacedField,
} from './mime-head.ts'

/** One part. The body of a multipart contains the other parts. */
export interface PlacedPart {
  readonly fields: readonly PlacedField[]
  readonly bodyStart: number
  /** End of the body, without the line end that belongs to the next delimiter. */
  readonly bodyEnd: number
  /** Media type in lower case; default `text/plain`. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  /** Content-Transfer-Encoding in lower case; default `7bit`. */
  readonly encoding: string
  /** The part is an attached file or is inside one. */
  readonly attached: boolean
}

const maxParts = 1000
const maxDepth = 20
const maxBoundary = 70
/** Limit of places in a multipart that look like a delimiter. Only a message built to cost time has more. */
const maxMarks = 10_000

interface Region {
  readonly start: number
  readonly end: number
  readonly depth: number
  readonly attached: boolean
}

/** All parts in order, beginning with the message itself. Embedded messages are not opened. Throws `BrokenMime`. */
export function placedParts(raw: Buffer): PlacedPart[] {
  const parts: PlacedPart[] = []
  const waiting: Region[] = [{ start: 0, end: raw.length, depth: 0, attached: false }]
  for (let region = waiting.pop(); region; region = waiting.pop()) {
    if (parts.length === maxParts || region.depth > maxDepth) throw new BrokenMime('there are too many parts')
    const part = placedPart(raw, region)
    parts.push(part)
    if (part.type.startsWith('multipart/')) waiting.push(...regionsIn(raw, part, region.depth + 1).toReversed())
  }
  return parts
}

function placedPart(raw: Buffer, { start, end, attached }: Region): PlacedPart {
  const { fields, bodyStart } = readMimeHead(raw, start, end)
  const contentType = parseParameterized(onlyField(fields, 'content-type')?.value ?? 'text/plain')
  const encoding = withoutComments(onlyField(fields, 'content-transfer-encoding')?.value ?? '7bit')
  return {
    ...{ fields, bodyStart, bodyEnd: end },
    type: contentType.value,
    parameters: contentType.parameters,
    encoding: encoding.trim().toLowerCase(),
    attached: attached || isFile(onlyField(fields, 'content-disposition'), contentType),
  }
}

/** An unknown disposition counts as an attachment (RFC 2183 §2.8). Most readers treat a text with a file name as an attachment. */
function isFile(disposition: PlacedField | undefined, { parameters }: Parameterized): boolean {
  if (parameters.has('name') || parameters.has('name*')) return true
  if (!disposition) return false
  const { value, parameters: named } = parseParameterized(disposition.value)
  return value !== 'inline' || [...named.keys()].some((name) => name.startsWith('filename'))
}

function regionsIn(raw: Buffer, part: PlacedPart, depth: number): Region[] {
  const boundary = part.parameters.get('boundary') ?? ''
  if (boundary === '' || boundary.length > maxBoundary || /[^ -~]| $/.test(boundary)) throw new BrokenMime('a boundary is missing')
  if (!/^(?:7bit|8bit|binary)$/.test(part.encoding)) throw new BrokenMime('a multipart is encoded')
  const regions: Region[] = []
  let start: number | undefined
  for (const { at, next, closes } of delimiters(raw, part, boundary)) {
    if (start !== undefined) regions.push({ start, end: Math.max(start, at - 2), depth, attached: part.attached })
    if (closes) return regions
    start = next
  }
  throw new BrokenMime('a multipart has no closing delimiter')
}

interface Delimiter {
  readonly at: number
  /** Offset of the line after the delimiter. */
  readonly next: number
  readonly closes: boolean
}

function* delimiters(raw: Buffer, { bodyStart, bodyEnd }: PlacedPart, boundary: string): Generator<Delimiter> {
  const body = raw.subarray(bodyStart, bodyEnd)
  const mark = `--${boundary}`
  let marks = 0
  for (let at = body.indexOf(mark, 0, 'latin1'); at >= 0; at = body.indexOf(mark, at + mark.length, 'latin1')) {
    if (++marks > maxMarks) throw new BrokenMime('a boundary occurs too often')
    if (at > 0 && body[at - 1] !== 0x0a) continue
    const feed = body.indexOf('\r\n', at + mark.length)
    const stop = feed < 0 ? body.length : feed
    const rest = body.toString('latin1', at + mark.length, stop)
    if (!/^(?:--)?[ \t]*$/.test(rest)) continue
    yield { at: bodyStart + at, next: bodyStart + Math.min(stop + 2, body.length), closes: rest.startsWith('--') }
  }
}
