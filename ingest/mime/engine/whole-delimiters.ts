/**
 * Corrects boundary delimiters for mailparser (RFC 2046 §5.1). Delimiter lines lose their padding, and a delimiter of an outer multipart
 * closes the inner ones. In headers, runs of carriage returns become a space, because mailsplit takes quadratic time for them. All other
 * octets stay unchanged, and no body is copied.
 */
import { containerHead } from './container-head.ts'

const maxLine = 1000
/** mailparser refuses a message with more parts. */
const maxHeads = 1500
const maxHead = 256 * 1024
const lineFeed = 0x0a

/** The header of a part. */
export interface HeadPlace {
  readonly start: number
  /** Offset of the empty line or delimiter that ends the header. */
  readonly end: number
  /** The header announces a multipart whose delimiter never follows. */
  isUndivided: boolean
}

interface OpenMultipart {
  readonly head: HeadPlace
  readonly isMultipart: boolean
  /** The boundary as mailparser reads it. */
  readonly boundary: string
  /** The boundary without trailing white space, for comparison with delimiter lines. */
  readonly key: string
  hasParts: boolean
}

interface Delimiter {
  /** Index into the open multiparts. */
  readonly level: number
  readonly closes: boolean
}

/** Scans a message in one pass. */
export class WholeDelimiters {
  readonly #raw: Buffer
  readonly #open: OpenMultipart[] = []
  /** Levels of the open multiparts by key; a boundary may occur at several levels. */
  readonly #levels = new Map<string, number[]>()
  readonly #heads: HeadPlace[] = []
  #isUnclosed = false
  #hasEpilogue = false
  /** Offset of the next two adjacent carriage returns; smaller than the current line if not searched yet. */
  #nextRun = -1

  constructor(raw: Buffer) {
    this.#raw = raw
  }

  /** A multipart ended without its closing delimiter. Final after the last piece. */
  get isUnclosed(): boolean {
    return this.#isUnclosed
  }

  /** Text follows the last part of a multipart. Final after the last piece. */
  get hasEpilogue(): boolean {
    return this.#hasEpilogue
  }

  /** The headers in order, up to the limit on parts. Call it instead of `pieces()`. */
  heads(): readonly HeadPlace[] {
    const pieces = this.pieces()
    while (pieces.next().done !== true);
    return this.#heads
  }

  /** Yields the octets in order. Unchanged stretches are views of the message. */
  *pieces(): Generator<Buffer> {
    let [at, written] = [0, 0]
    let headStart: number | undefined = 0
    let closedAt: number | undefined
    while (at < this.#raw.length && (headStart !== undefined || this.#open.length > 0) && this.#heads.length <= maxHeads) {
      if (headStart === undefined) at = this.#nextHyphens(at)
      const next = this.#nextLine(at)
      const delimiter = this.#delimiterAt(at, next)
      const changed = delimiter ? this.#exactLines(at, next, delimiter) : this.#withoutRuns(headStart, at, next)
      if (changed) {
        yield this.#raw.subarray(written, at)
        yield changed
        written = next
      }
      if (delimiter) {
        this.#noteEpilogue(closedAt, at)
        closedAt = delimiter.closes ? next : undefined
        if (headStart !== undefined) this.#heads.push({ start: headStart, end: at, isUndivided: false })
        this.#enter(delimiter)
        headStart = delimiter.closes ? undefined : next
      } else if (headStart !== undefined && this.#endsHead(headStart, at, next)) {
        const continues = this.#openContainer(headStart, at, next)
        headStart = continues ? next : undefined
      }
      at = next
    }
    this.#isUnclosed ||= this.#open.some(({ hasParts }) => hasParts)
    this.#leave(0)
    this.#noteEpilogue(closedAt, this.#raw.length)
    yield this.#raw.subarray(written)
  }

  #noteEpilogue(start: number | undefined, end: number): void {
    for (let at = start ?? end; at < end && !this.#hasEpilogue; at++) this.#hasEpilogue = (this.#raw[at] ?? 0) > 0x20
  }

  /** The start of the first line with two hyphens. */
  #nextHyphens(at: number): number {
    if (this.#raw[at] === 0x2d && this.#raw[at + 1] === 0x2d) return at
    const feed = this.#raw.indexOf('\n--', at)
    return feed < 0 ? this.#raw.length : feed + 1
  }

  #nextLine(at: number): number {
    const feed = this.#raw.indexOf(lineFeed, at)
    return feed < 0 ? this.#raw.length : feed + 1
  }

  /** The header line without runs of carriage returns. Undefined if it has no such run, or if mailparser refuses the header. */
  #withoutRuns(headStart: number | undefined, at: number, next: number): Buffer | undefined {
    if (headStart === undefined || next - headStart > maxHead) return undefined
    if (this.#nextRun < at) {
      const run = this.#raw.indexOf('\r\r', at)
      this.#nextRun = run < 0 ? this.#raw.length : run
    }
    if (this.#nextRun >= next) return undefined
    return Buffer.from(this.#raw.toString('latin1', at, next).replaceAll(/\r{2,}/g, ' '), 'latin1')
  }

  #endsHead(start: number, at: number, next: number): boolean {
    const isEmpty = next - at <= 2 && this.#raw.toString('latin1', at, next).trim() === ''
    return isEmpty || next === this.#raw.length || next - start > maxHead
  }

  #delimiterAt(at: number, next: number): Delimiter | undefined {
    if (next - at > maxLine || this.#raw[at] !== 0x2d || this.#raw[at + 1] !== 0x2d) return undefined
    const line = withoutPadding(this.#raw.toString('latin1', at + 2, next))
    const opens = this.#levels.get(line)?.at(-1) ?? -1
    if (opens >= 0 && this.#endsAt(next)) return { level: opens, closes: this.#open[opens]?.hasParts === true }
    const closes = line.endsWith('--') ? (this.#levels.get(line.slice(0, -2))?.at(-1) ?? -1) : -1
    const level = Math.max(opens, closes)
    // mailparser ignores a closing delimiter before the first part
    if (level < 0 || (closes > opens && this.#open[level]?.hasParts === false)) return undefined
    return { level, closes: closes > opens }
  }

  /** True if the message ends with this line and without a line end. A delimiter there may be truncated and opens no part. */
  #endsAt(next: number): boolean {
    return next === this.#raw.length && this.#raw[next - 1] !== lineFeed
  }

  /** The delimiter line that mailparser needs, preceded by closing lines for inner multiparts. Undefined if the line is exact. */
  #exactLines(at: number, next: number, { level, closes }: Delimiter): Buffer | undefined {
    const line = this.#raw.toString('latin1', at, next)
    const end = /\r?\n$/.exec(line)?.[0] ?? ''
    const unclosed = this.#open.slice(level + 1).filter(({ hasParts }) => hasParts)
    this.#isUnclosed ||= unclosed.length > 0
    const closing = unclosed.toReversed().map(({ boundary }) => `--${boundary}--${end === '' ? '\r\n' : end}`)
    this.#isUnclosed ||= closes && !line.trimEnd().endsWith('--')
    const exact = `${closing.join('')}--${this.#open[level]?.boundary}${closes ? '--' : ''}${end}`
    return exact === line ? undefined : Buffer.from(exact, 'latin1')
  }

  #enter({ level, closes }: Delimiter): void {
    this.#leave(closes ? level : level + 1)
    const parent = this.#open[level]
    if (!closes && parent) parent.hasParts = true
  }

  #leave(level: number): void {
    for (const { key, head, isMultipart, hasParts } of this.#open.splice(level)) {
      this.#levels.get(key)?.pop()
      head.isUndivided ||= isMultipart && !hasParts
    }
  }

  /** `last` is the line that ends the header. True if the header of an embedded message follows. */
  #openContainer(start: number, last: number, end: number): boolean {
    const { boundary, isMultipart, isMessage } = containerHead(this.#raw.toString('latin1', start, Math.min(end, start + maxHead)))
    const key = withoutPadding(boundary)
    const isEnded = this.#raw.toString('latin1', last, Math.min(end, last + 2)).trim() === ''
    const head = { start, end: isEnded ? last : end, isUndivided: isMultipart && key === '' }
    if (end - start <= maxHead) this.#heads.push(head)
    if (key === '' || key.length > maxLine) return isMessage
    const levels = this.#levels.get(key)
    if (levels) levels.push(this.#open.length)
    else this.#levels.set(key, [this.#open.length])
    this.#open.push({ head, isMultipart, boundary: boundary.trimStart(), key, hasParts: false })
    return isMessage
  }
}

/** Removes trailing white space and line ends. */
function withoutPadding(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
