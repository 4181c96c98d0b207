/** CSV as it comes (RFC 4180): records out of bytes in pieces of any size, holding one record at a time. */
import { maxRowUnits, UnreadableRows, utf8Pieces } from './rows-text.ts'

/** A record: its cells, and what is wrong with its quotes where something is. */
export interface CsvRecord {
  readonly cells: readonly string[]
  readonly problem: string | undefined
}

/**
 * Reads records, those of a piece together. Lines end by CRLF, LF or CR; empty lines are no records; a byte order mark is skipped.
 * Throws `UnreadableRows` for a quote that is never closed, a record that is too long and bytes that are not UTF-8.
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[]> {
  const scanner = new CsvScanner()
  for await (const piece of utf8Pieces(bytes)) yield scanner.scan(piece)
  yield scanner.end()
}

type CellState = 'start' | 'plain' | 'quoted' | 'closed'

class CsvScanner {
  #state: CellState = 'start'
  #cells: string[] = []
  #cell = ''
  #units = 0
  #records = 0
  #problem: string | undefined
  /** The last character was a CR: an LF that follows belongs to it. */
  #afterCr = false

  /** Nothing of a record has come yet. */
  #isUntouched(): boolean {
    return this.#state === 'start' && this.#cells.length === 0 && this.#cell === ''
  }

  scan(text: string): readonly CsvRecord[] {
    const records: CsvRecord[] = []
    let from = 0 // what was not yet taken into the cell
    for (let at = 0; at < text.length; at++) {
      const c = text[at]
      if (this.#state === 'quoted') {
        if (c !== '"') continue
        this.#take(text.slice(from, at))
        this.#state = 'closed'
      } else if (c === ',' || c === '\r' || c === '\n') {
        this.#take(text.slice(from, at))
        const isRestOfEnd = c === '\n' && this.#afterCr && this.#isUntouched()
        if (c === ',') this.#endCell()
        else if (!isRestOfEnd) this.#endRecord(records)
      } else if (c === '"') {
        this.#take(text.slice(from, at))
        this.#quote()
      } else {
        if (this.#state === 'closed') this.#problem ??= 'has text behind a closing quote'
        this.#state = 'plain'
        this.#afterCr = false
        continue
      }
      this.#afterCr = c === '\r'
      from = at + 1
    }
    this.#take(text.slice(from))
    return records
  }

  end(): readonly CsvRecord[] {
    const records: CsvRecord[] = []
    if (this.#state === 'quoted') throw new UnreadableRows(`a quote in ${this.#where()} is never closed`)
    if (!this.#isUntouched()) this.#endRecord(records)
    return records
  }

  #quote(): void {
    if (this.#state === 'start') this.#state = 'quoted'
    else if (this.#state === 'closed') {
      this.#take('"') // two of them stand for one
      this.#state = 'quoted'
    } else {
      this.#problem ??= 'has a quote in a cell that does not begin with one; put the whole cell in quotes and double those inside'
      this.#take('"')
    }
  }

  #take(text: string): void {
    this.#units += text.length
    if (this.#units > maxRowUnits) {
      throw new UnreadableRows(`${this.#where()} is longer than ${maxRowUnits} characters; look for a quote that is not closed`)
    }
    this.#cell += text
  }

  #endCell(): void {
    this.#cells.push(this.#cell)
    this.#cell = ''
    this.#state = 'start'
    this.#units++
  }

  #endRecord(records: CsvRecord[]): void {
    const isEmptyLine = this.#isUntouched()
    this.#endCell()
    const record = { cells: this.#cells, problem: this.#problem }
    this.#cells = []
    this.#units = 0
    this.#problem = undefined
    if (isEmptyLine) return
    this.#records++
    records.push(record)
  }

  #where(): string {
    return this.#records === 0 ? 'the header row' : `row ${this.#records}`
  }
}
