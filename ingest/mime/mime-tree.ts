/** The parts of a message by their places in its octets (RFC 2046 §5.1), for changes that leave all other octets alone. */
import {
  BrokenMime,
  onlyField,
  parseParameterized,
  readMimeHead,
  withoutComments,
  type Parameterized,
  type PlacedField,
} from './mime-head.ts'

/** One part; of a multipart, the body holds the others. */
export interface PlacedPart {
  readonly fields: readonly PlacedField[]
  readonly bodyStart: number
  /** Before the line end that belongs to the delimiter behind it. */
  readonly bodyEnd: number
  /** Media type in lower case, `text/plain` when none is given. */
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  /** Content-Transfer-Encoding in lower case, `7bit` when none is given. */
  readonly encoding: string
  /** A file that comes with the message, or inside such a part. */
  readonly attached: boolean
}

const maxParts = 1000
const maxDepth = 20
const maxBoundary = 70
/** Places in a multipart that look like a delimiter; more are made to cost time. */
const maxMarks = 10_000

interface Region {
  readonly start: number
  readonly end: number
  readonly depth: number
  readonly attached: boolean
}

/** All parts in order, the message itself first. Does not look into messages within the message. Throws `BrokenMime`. */
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

/** RFC 2183 §2.8: what is not known counts as an attachment. A text with a file name is one to most readers. */
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
  throw new BrokenMime('a multipart has no end')
}

interface Delimiter {
  readonly at: number
  /** Where the line behind it begins. */
  readonly next: number
  readonly closes: boolean
}

function* delimiters(raw: Buffer, { bodyStart, bodyEnd }: PlacedPart, boundary: string): Generator<Delimiter> {
  const body = raw.subarray(bodyStart, bodyEnd)
  const mark = `--${boundary}`
  let marks = 0
  for (let at = body.indexOf(mark, 0, 'latin1'); at >= 0; at = body.indexOf(mark, at + mark.length, 'latin1')) {
    if (++marks > maxMarks) throw new BrokenMime('a boundary stands there too often')
    if (at > 0 && body[at - 1] !== 0x0a) continue
    const feed = body.indexOf('\r\n', at + mark.length)
    const stop = feed < 0 ? body.length : feed
    const rest = body.toString('latin1', at + mark.length, stop)
    if (!/^(?:--)?[ \t]*$/.test(rest)) continue
    yield { at: bodyStart + at, next: bodyStart + Math.min(stop + 2, body.length), closes: rest.startsWith('--') }
  }
}
