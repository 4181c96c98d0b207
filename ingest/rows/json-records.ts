/**
 * A streaming reader for JSON as services return it: an array, an array inside an object, or one object on each line. A file may contain
 * several of these one after another, such as saved result pages. It holds one record at a time.
 */
import { UnreadableRows } from './rows-text.ts'

/** A record or a problem. */
export interface JsonRecord {
  /** The line of the file where the record begins, from 1. */
  readonly line: number
  readonly value?: unknown
  readonly problem?: string
}

export interface JsonRecordOptions {
  /** Names of object fields that hold arrays of records. */
  readonly lists: ReadonlySet<string>
  /** Maximum length of a record in UTF-16 units. */
  readonly maxUnits: number
}

/** Reads records; each batch holds the records of one piece of input. Throws `UnreadableRows` if the text between records is not JSON. */
export async function* readJsonRecords(pieces: AsyncIterable<string>, options: JsonRecordOptions): AsyncGenerator<readonly JsonRecord[]> {
  const scanner = new JsonRecordScanner(options)
  for await (const piece of pieces) yield scanner.scan(piece)
  scanner.end()
}

/**
 * `outside`: between documents. `object`: in an object that is a record or contains an array of records. `list`: between records. `record`:
 * inside a record.
 */
type Place = 'outside' | 'object' | 'list' | 'record'

const isBetween = (c: string | undefined): boolean => c === ' ' || c === '\n' || c === '\r' || c === '\t' || c === ','

class JsonRecordScanner {
  readonly #options: JsonRecordOptions
  #place: Place = 'outside'
  /** The array is a field of an object. */
  #isWrapped = false
  #depth = 0
  #inString = false
  #escaped = false
  #text = ''
  #isTooLong = false
  /** The latest string at the object's top level: the name of the current field. */
  #name = ''
  #line = 1
  #startLine = 1

  constructor(options: JsonRecordOptions) {
    this.#options = options
  }

  end(): void {
    if (this.#place !== 'outside') throw new UnreadableRows(`is not JSON: the value that begins in line ${this.#startLine} is incomplete`)
  }

  scan(piece: string): readonly JsonRecord[] {
    const records: JsonRecord[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const c = piece[at]
      if (c === '\n') this.#line++
      if (this.#place === 'outside' || this.#place === 'list') {
        const isBegun = this.#between(c)
        from = at
        if (!isBegun || !isBare(c)) continue
      }
      const isEnd = this.#inside(c)
      if (isEnd === undefined) continue
      // a bare value ends before the next character
      this.#take(piece.slice(from, isEnd === 'before' ? at : at + 1))
      from = at + 1
      const record = this.#close()
      if (record) records.push(record)
      if (isEnd === 'before') at-- // the character is scanned again as part of the array
      if (isEnd === 'before' && c === '\n') this.#line--
    }
    if (this.#place === 'object' || this.#place === 'record') this.#take(piece.slice(from))
    return records
  }

  /** Handles a character between records or documents. Returns true if a record begins with it. */
  #between(c: string | undefined): boolean {
    if (isBetween(c)) return false
    const isList = this.#place === 'list'
    if (isList && c === ']') return this.#leaveList()
    if (!isList && c !== '{' && c !== '[') throw new UnreadableRows(`is not JSON: unexpected character in line ${this.#line}`)
    if (!isList && c === '[') {
      this.#place = 'list'
      this.#isWrapped = false
      return false
    }
    this.#place = isList ? 'record' : 'object'
    this.#startLine = this.#line
    this.#depth = c === '{' || c === '[' ? 1 : 0
    this.#inString = c === '"'
    return isList
  }

  #leaveList(): false {
    this.#place = this.#isWrapped ? 'object' : 'outside'
    this.#depth = 1
    this.#name = ''
    return false
  }

  /** Returns whether this character ends the current value: `with` includes it, `before` excludes it. Undefined if the value continues. */
  #inside(c: string | undefined): 'with' | 'before' | undefined {
    if (this.#inString) return this.#inText(c)
    if (c === '"') {
      this.#inString = true
      if (this.#place === 'object' && this.#depth === 1) this.#name = ''
    } else if (c === '[' && this.#place === 'object' && this.#depth === 1 && this.#options.lists.has(this.#name)) {
      this.#place = 'list'
      this.#isWrapped = true
      this.#text = ''
      this.#isTooLong = false
    } else if (c === '{' || c === '[') this.#depth++
    else if ((c === '}' || c === ']') && this.#depth > 0) {
      this.#depth--
      if (this.#depth === 0) return 'with'
    } else if (this.#depth === 0 && (c === ']' || c === ',' || c === '\n')) return 'before'
    return undefined
  }

  #inText(c: string | undefined): 'with' | undefined {
    if (this.#escaped) this.#escaped = false
    else if (c === '\\') this.#escaped = true
    else if (c === '"') {
      this.#inString = false
      if (this.#depth === 0) return 'with'
    } else if (this.#place === 'object' && this.#depth === 1 && this.#name.length < maxName) this.#name += c
    return undefined
  }

  #take(text: string): void {
    if (this.#isTooLong) return
    this.#text += text
    if (this.#text.length <= this.#options.maxUnits) return
    this.#isTooLong = true
    this.#text = ''
  }

  #close(): JsonRecord | undefined {
    const [text, isTooLong, line] = [this.#text, this.#isTooLong, this.#startLine]
    const isRest = this.#place === 'object' && this.#isWrapped
    this.#place = this.#place === 'record' ? 'list' : 'outside'
    if (this.#place === 'outside') this.#isWrapped = false
    this.#text = ''
    this.#isTooLong = false
    if (isRest) return undefined // the records of this object were returned already
    if (isTooLong) return { line, problem: `is longer than ${this.#options.maxUnits} characters` }
    try {
      return { line, value: JSON.parse(text) as unknown }
    } catch {
      return { line, problem: 'is not JSON' }
    }
  }
}

const maxName = 40
/** Recognizes the first character of a number, boolean or null. */
const isBare = (c: string | undefined): boolean => c !== '{' && c !== '[' && c !== '"'
