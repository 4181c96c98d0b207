/** Splits octets into lines, in groups. Holds one group at a time; input pieces may have any size. */

/** Lines in a group. */
const maxGroup = 1000
/** Maximum length of a line in UTF-16 units. Some shippers send an array of records as one line. */
const maxLine = 1_048_576
/** A group ends early at this size, so that long lines do not accumulate. */
const maxGroupUnits = 262_144

/** Consecutive lines. Undefined replaces a line that is too long. */
export interface LineGroup {
  /** Number of the first line, from 1. */
  readonly first: number
  readonly lines: readonly (string | undefined)[]
}

/** Lines end with LF or CRLF. Octets that are not UTF-8 become U+FFFD. */
export async function* lineGroups(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<LineGroup> {
  const decoder = new TextDecoder()
  const collector = new LineCollector()
  for await (const chunk of bytes) yield* collector.take(decoder.decode(chunk, { stream: true }))
  yield* collector.take(decoder.decode())
  yield* collector.end()
}

class LineCollector {
  #first = 1
  #lines: (string | undefined)[] = []
  #units = 0
  /** Pieces of the unfinished line, joined once, so that the cost of a long line in small pieces stays linear. */
  #open: string[] = []
  #openUnits = 0

  #extend(piece: string): void {
    if (piece === '') return
    this.#openUnits += piece.length
    if (this.#openUnits > maxLine) this.#open = []
    else this.#open.push(piece)
  }

  *take(text: string): Generator<LineGroup> {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#extend(text.slice(from, end))
      this.#endLine()
      from = end + 1
      if (this.#lines.length >= maxGroup || this.#units > maxGroupUnits) yield this.#group()
    }
    this.#extend(text.slice(from))
  }

  *end(): Generator<LineGroup> {
    if (this.#openUnits > 0) this.#endLine()
    if (this.#lines.length > 0) yield this.#group()
  }

  #endLine(): void {
    const line = this.#openUnits > maxLine ? undefined : this.#open.length === 1 ? this.#open[0] : this.#open.join('')
    this.#units += line?.length ?? 0
    this.#lines.push(line?.endsWith('\r') ? line.slice(0, -1) : line)
    this.#open = []
    this.#openUnits = 0
  }

  #group(): LineGroup {
    const group = { first: this.#first, lines: this.#lines }
    this.#first += this.#lines.length
    this.#lines = []
    this.#units = 0
    return group
  }
}
