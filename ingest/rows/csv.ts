/** A streaming CSV reader (RFC 4180). It accepts bytes in pieces of any size and holds one record at a time. */
import { maxRowUnits, UnreadableRows, utf8Pieces } from './rows-text.ts'

/** A record with its cells, and a problem if its quotes are wrong. */
export interface CsvRecord {
  /** The line of the file where the record begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  readonly problem: string | undefined
}

/**
 * Reads records; each batch holds the records of one piece of input. Lines end with CRLF, LF or CR. Empty lines and a byte order mark are
 * skipped. Throws `UnreadableRows` for an unclosed quote, a record that is too long, and bytes that are not UTF-8.
 */
export const readCsv = (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[]> => readCsvText(utf8Pieces(bytes))

export interface CsvOptions {
  /** Separator of cells. Default: a comma. */
  readonly delimiter?: string
  /** Reports a record that is too long as a problem without cells, instead of throwing. */
  readonly skipsLong?: boolean
}

/** Reads records like `readCsv`, from text. */
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
  /** The last character was a CR; an LF that follows belongs to the same line end. */
  #afterCr = false
  /** The same, inside quotes too; for the line count. */
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

  /** True until the first character of a record. */
  #isUntouched(): boolean {
    return this.#state === 'start' && this.#cells.length === 0 && this.#cell === ''
  }

  scan(text: string): readonly CsvRecord[] {
    const records: CsvRecord[] = []
    let from = 0 // start of the characters that are not in the cell yet
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
        if (this.#state === 'closed') this.#problem ??= 'has text after a closing quote'
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
      this.#take('"') // two quotes mean one quote character
      this.#state = 'quoted'
    } else {
      this.#problem ??= 'has a quote inside an unquoted cell; put the whole cell in quotes and double the quotes inside'
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
