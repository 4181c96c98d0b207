/** Reads the rows of a JSON document, an array or `{"rows": [...]}`, one at a time, without building the whole document. */
import type { GivenRow } from '#core/feedback/suppression/suppression-import.ts'
import { maxRowUnits, UnreadableRows, utf8Pieces } from './rows-text.ts'

/** Reads rows; each batch holds the rows of one piece of input. Throws `UnreadableRows` if the document has another form. */
export async function* readJsonRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly GivenRow[]> {
  const scanner = new JsonRowScanner()
  for await (const piece of utf8Pieces(bytes)) yield scanner.scan(piece)
  scanner.end()
}

/**
 * `before` and `behind`: outside the array. `first`: an element or the end follows. `next`: an element follows. `element`: inside an
 * element.
 */
type RowState = 'before' | 'first' | 'next' | 'element' | 'behind'

// White space between tokens (RFC 8259 §2).
const opening = /^[ \t\r\n]*(?:\[|\{[ \t\r\n]*"rows"[ \t\r\n]*:[ \t\r\n]*\[)/
const isBlank = (c: string | undefined): boolean => c === ' ' || c === '\n' || c === '\r' || c === '\t'
const maxOpening = 1024

class JsonRowScanner {
  #state: RowState = 'before'
  #text = ''
  #wrapped = false
  #depth = 0
  #inString = false
  #escaped = false
  #rows = 0

  end(): void {
    if (this.#state === 'before') throw notRows()
    if (this.#state !== 'behind') throw new UnreadableRows(`is not JSON: it ends too early, after row ${this.#rows}`)
    if (this.#text !== (this.#wrapped ? '}' : '')) throw new UnreadableRows('is not JSON rows: unexpected text after the array')
  }

  scan(piece: string): readonly GivenRow[] {
    const rows: GivenRow[] = []
    const text = this.#state === 'before' ? this.#open(piece) : piece
    let from = 0
    for (let at = 0; at < text.length; at++) {
      if (this.#state === 'element') {
        if (!this.#endsElement(text[at])) continue
        this.#take(text.slice(from, at))
        rows.push(this.#row())
        this.#state = text[at] === ',' ? 'next' : 'behind'
      } else if (this.#state === 'behind') this.#text += isBlank(text[at]) ? '' : text[at]
      else if (text[at] === ']' && this.#state === 'first') this.#state = 'behind'
      else if (!isBlank(text[at])) {
        this.#state = 'element'
        from = at
        at-- // scanned again as the first character of the element
      }
    }
    if (this.#state === 'element') this.#take(text.slice(from))
    if (this.#state === 'behind' && this.#text.length > 1) this.end()
    return rows
  }

  /** Reads the beginning up to the bracket, which may arrive in several pieces. Returns the text after it. */
  #open(piece: string): string {
    this.#text += piece
    const found = opening.exec(this.#text)
    if (!found) {
      if (this.#text.length > maxOpening) throw notRows()
      return ''
    }
    const rest = this.#text.slice(found[0].length)
    this.#wrapped = found[0].includes('{')
    this.#state = 'first'
    this.#text = ''
    return rest
  }

  /** Returns whether this character ends the current element. */
  #endsElement(c: string | undefined): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (c === '\\') this.#escaped = true
      else if (c === '"') this.#inString = false
      return false
    }
    if (this.#depth === 0 && (c === ',' || c === ']')) return true
    if (c === '"') this.#inString = true
    else if (c === '{' || c === '[') this.#depth++
    else if (c === '}' || c === ']') this.#depth--
    return false
  }

  #take(text: string): void {
    this.#text += text
    if (this.#text.length <= maxRowUnits) return
    throw new UnreadableRows(
      `row ${this.#rows + 1} is longer than ${maxRowUnits} characters; look for a bracket or quote that is not closed`,
    )
  }

  #row(): GivenRow {
    const text = this.#text
    this.#text = ''
    this.#depth = 0
    this.#rows++
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw new UnreadableRows(`is not JSON: row ${this.#rows} is invalid`, { cause: error })
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { fields: value as Record<string, unknown> }
    return { problem: 'the row must be an object such as {"email": "ada@example.ch"}' }
  }
}

const notRows = (): UnreadableRows => new UnreadableRows('must be an array of rows, or {"rows": […]} and nothing else')
