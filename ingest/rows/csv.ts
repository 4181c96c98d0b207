/** CSV as it comes (RFC 4180): records out of bytes in pieces of any size, holding one record at a time. */
import { maxRowUnits, UnreadableRows, utf8Pieces } from './rows-text.ts'

/** A record: its cells, and what is wrong with its quotes where something is. */
export interface CsvRecord {
  /** The line of the file in which it begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  readonly problem: string | undefined
}

/**
 * Reads records, those of a piece together. Lines end by CRLF, LF or CR; empty lines are no records; a byte order mark is skipped.
 * Throws `UnreadableRows` for a quote that is never closed, a record that is too long and bytes that are not UTF-8.
 */
export const readCsv = (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[]> => readCsvText(utf8Pieces(bytes))

export interface CsvOptions {
  /** Between cells; a comma by default. */
  readonly delimiter?: string
  /** A record that is too long has a problem and no cells, where it would end the reading. */
  readonly skipsLong?: boolean
}

/** As `readCsv`, for text. */
export async function* readCsvText(pieces: AsyncIterable<string>, options: CsvOptions = {}): AsyncGenerator<readonly CsvRecord[]> {
  const scanner = new CsvScanner(options)
  for await (const piece of pieces) yield scanner.scan(piece)
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
  /** As above, inside quotes too. */
  #lineEndsByCr = false
  #line = 1
  #startLine = 1
  #isTooLong = false
  readonly #delimiter: string
  readonly #skipsLong: boolean

  constructor({ delimiter = ',', skipsLong = false }: CsvOptions) {
    this.#delimiter = delimiter
    this.#skipsLong = skipsLong
  }

  /** Nothing of a record has come yet. */
  #isUntouched(): boolean {
    return this.#state === 'start' && this.#cells.length === 0 && this.#cell === ''
  }

  scan(text: string): readonly CsvRecord[] {
    const records: CsvRecord[] = []
    let from = 0 // what was not yet taken into the cell
    for (let at = 0; at < text.length; at++) {
      const c = text[at]
      this.#countLine(c)
      if (this.#state === 'quoted') {
        if (c !== '"') continue
        this.#take(text.slice(from, at))
        this.#state = 'closed'
      } else if (c === this.#delimiter || c === '\r' || c === '\n') {
        this.#take(text.slice(from, at))
        const isRestOfEnd = c === '\n' && this.#afterCr && this.#isUntouched()
        if (c === this.#delimiter) this.#endCell()
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
    if (!this.#isUntouched() || this.#isTooLong) this.#endRecord(records)
    return records
  }

  #countLine(c: string | undefined): void {
    if (c === '\r' || (c === '\n' && !this.#lineEndsByCr)) this.#line++
    this.#lineEndsByCr = c === '\r'
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
    if (this.#isTooLong) return
    if (this.#units > maxRowUnits) {
      if (this.#skipsLong) return this.#drop()
      throw new UnreadableRows(`${this.#where()} is longer than ${maxRowUnits} characters; look for a quote that is not closed`)
    }
    this.#cell += text
  }

  #drop(): void {
    this.#isTooLong = true
    this.#cells = []
    this.#cell = ''
  }

  #endCell(): void {
    if (!this.#isTooLong) this.#cells.push(this.#cell)
    this.#cell = ''
    this.#state = 'start'
    this.#units++
  }

  #endRecord(records: CsvRecord[]): void {
    const isEmptyLine = this.#isUntouched() && !this.#isTooLong
    this.#endCell()
    const problem = this.#isTooLong ? `is longer than ${maxRowUnits} characters` : this.#problem
    const record = { cells: this.#cells, problem, line: this.#startLine }
    this.#startLine = this.#line
    this.#isTooLong = false
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
