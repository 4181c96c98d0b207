/** Reads lists that other services export, CSV or JSON, as a stream of rows to import. */
import type { MovedKind, MovedRow } from '#core/moving/moved-row.ts'
import { restoredCell } from '../rows/csv-cells.ts'
import { readCsvText, type CsvRecord } from '../rows/csv.ts'
import { readJsonRecords, type JsonRecord } from '../rows/json-records.ts'
import { maxRowUnits, textPieces, UnreadableRows } from '../rows/rows-text.ts'
import { dayOf, nameOf, textOf, valuesOf, type Values } from './export-fields.ts'
import {
  addressNames,
  kindPatterns,
  reasonNames,
  serviceNames,
  shapes,
  type ExportShape,
  type Said,
  type Service,
} from './export-shapes.ts'

export interface ListExportOptions {
  /** The service that wrote the file. Default: recognized by the field names. */
  readonly service?: Service | undefined
  /** Kind of all entries, such as `bounces`. Overrides the kind that fields or the file name indicate. */
  readonly kind?: MovedKind | undefined
  /** Distinguishes lists of a service that have the same fields. */
  readonly fileName?: string | undefined
}

/**
 * Reads the rows of a file; each batch holds the rows of one piece of input. Throws `UnreadableRows`, also if the file fits no known
 * service.
 */
export class ListExport {
  readonly #options: ListExportOptions
  readonly #named: MovedKind | undefined
  #service: Service | undefined
  #row = 0

  constructor(options: ListExportOptions) {
    this.#options = options
    this.#service = options.service
    const name = options.fileName?.slice(-200).toLowerCase() ?? ''
    this.#named = kindPatterns.find(([pattern]) => pattern.test(name))?.[1]
  }

  /** The service of the rows already read. */
  get service(): Service | undefined {
    return this.#service
  }

  async *rows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly MovedRow[]> {
    this.#row = 0
    const pieces = textPieces(bytes)
    try {
      const first = await firstText(pieces)
      if (first.trim() === '') throw new UnreadableRows('is empty')
      const text = following(first, pieces)
      if (/^\s*[{[]/.test(first))
        for await (const records of readJsonRecords(text, { lists, maxUnits: maxRowUnits })) yield records.map((one) => this.#ofJson(one))
      else yield* this.#ofCsv(text, delimiterOf(first))
      if (this.#row === 0) throw new UnreadableRows('has no rows')
    } finally {
      await pieces.return(undefined)
    }
  }

  async *#ofCsv(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<readonly MovedRow[]> {
    let columns: readonly string[] | undefined
    for await (const records of readCsvText(text, { delimiter, skipsLong: true })) {
      const rows: MovedRow[] = []
      for (const record of records) {
        const isFirst = columns === undefined
        columns ??= columnsOf(record.cells)
        if (isFirst && !record.cells.some((cell) => cell.includes('@'))) {
          this.#requireKnown(columns)
          continue
        }
        rows.push(this.#ofRecord(columns, record))
      }
      yield rows
    }
  }

  #ofRecord(columns: readonly string[], { cells, problem, line }: CsvRecord): MovedRow {
    if (cells.length > columns.length || cells.length === 0)
      return this.#wrong(line, problem ?? `has ${cells.length} cells, but the header row has ${columns.length}`)
    return this.#read(new Map(columns.map((name, i) => [name, restoredCell(cells[i] ?? '')])), line)
  }

  #ofJson({ value, problem, line }: JsonRecord): MovedRow {
    if (problem !== undefined) return this.#wrong(line, problem)
    if (typeof value === 'string') return this.#read(new Map([['email', value]]), line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#wrong(line, 'is not an object')
    const values = valuesOf(value as Readonly<Record<string, unknown>>)
    if (this.#service === undefined) this.#requireKnown([...values.keys()])
    return this.#read(values, line)
  }

  #wrong(line: number, problem: string): MovedRow {
    return { row: ++this.#row, line, email: null, kind: 'manual', reason: null, from: 'all', problem }
  }

  #read(values: Values, line: number): MovedRow {
    const shape = this.#shapeOf([...values.keys()])
    const { email, said } = shape ? { email: textOf(values.get(shape.address)), said: shape.read(values) } : guessed(values)
    if (this.#service === undefined && shape) this.#service = shape.service
    const open = !shape || shape.isOpen ? this.#named : undefined
    const kind = this.#options.kind ?? open ?? said.kind
    const skipped = kind === said.kind || said.skipped !== undefined ? said.skipped : undefined
    const reason = reasonOf(this.#service, kind, said, values)
    return { row: ++this.#row, line, email: email ?? null, kind, reason, from: said.from ?? 'all', skipped }
  }

  #shapeOf(names: readonly string[]): ExportShape | undefined {
    return shapes.find(({ service, fields }) => (this.#service ?? service) === service && fields.every((name) => names.includes(name)))
  }

  /** Throws if the field names fit no known service, unless the caller names the service or the kind. */
  #requireKnown(names: readonly string[]): void {
    const shape = this.#shapeOf(names)
    if (shape) this.#service ??= shape.service
    if (
      shape ||
      isPlain(names) ||
      ((this.#service !== undefined || this.#options.kind !== undefined) && addressNames.some((name) => names.includes(name)))
    )
      return
    const found = names
      .filter((name) => name !== '')
      .slice(0, 10)
      .join(', ')
    throw new UnreadableRows(
      `matches no known service; its fields are ${found}; name the service, or use a plain list with the columns email and reason`,
    )
  }
}

/** Recognizes a plain list, not exported by a service: an address column and no unknown columns. */
const isPlain = (names: readonly string[]): boolean =>
  addressNames.some((name) => names.includes(name)) && names.every((name) => plainNames.has(name))

/** Fields of a JSON response that hold lists of rows. */
const lists: ReadonlySet<string> = new Set([
  ...[
    'items',
    'Suppressions',
    'Bounces',
    'SuppressedDestinationSummaries',
    'contacts',
    'data',
    'Data',
    'results',
    'recipients',
    'Messages',
  ],
  ...['suppressions', 'bounces', 'rows', 'emails', 'recipient_emails'],
])

/** If the first record contains an address, the list has no header row, and its columns are address and reason. */
const columnsOf = (cells: readonly string[]): readonly string[] =>
  cells.some((cell) => cell.includes('@')) ? ['emailaddress', 'reason'] : cells.map((cell) => nameOf(cell))

function guessed(values: Values): { readonly email: string | undefined; readonly said: Said } {
  const address = addressNames.find((name) => values.has(name))
  const reason = reasonNames.flatMap((name) => textOf(values.get(name)) ?? []).join(' ')
  const kind = kindPatterns.find(([pattern]) => pattern.test(reason.toLowerCase()))?.[1] ?? 'manual'
  return { email: textOf(address && values.get(address)), said: { kind, reason } }
}

const kindNames: Readonly<Record<MovedKind, string>> = {
  ...{ bounces: 'bounce', blocks: 'block', complaints: 'complaint', unsubscribes: 'unsubscribe', invalid: 'invalid address' },
  ...{ manual: 'suppressed', allowed: 'allowed' },
}
const dayNames = ['created', 'createdat', 'blockedat', 'bouncedat', 'lastupdatetime', 'updated', 'date']
const plainNames: ReadonlySet<string> = new Set(['', ...addressNames, 'reason', ...dayNames])
const maxReason = 500

function reasonOf(service: Service | undefined, kind: MovedKind, { reason }: Said, values: Values): string {
  const day = dayNames.flatMap((name) => dayOf(values.get(name)) ?? [])[0]
  const who = service === undefined ? '' : `${serviceNames[service]}: `
  const what = reason === undefined || reason === '' ? kindNames[kind] : `${kindNames[kind]}, ${reason}`
  return `${who}${what}`.slice(0, maxReason - 13).toWellFormed() + (day === undefined ? '' : ` (${day})`)
}

/** Reads text up to the end of the first non-empty line; the piece may contain more. */
async function firstText(pieces: AsyncGenerator<string>): Promise<string> {
  let text = ''
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    text += next.value
    if (text.length > maxRowUnits || /[\r\n]/.test(text.trimStart())) break
  }
  return text
}

async function* following(first: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first
  yield* pieces
}

/** The separator that occurs most often in the first line. */
function delimiterOf(text: string): string {
  const [line = ''] = text
    .slice(0, maxRowUnits)
    .trimStart()
    .split(/[\r\n]/, 1)
  const counted = [',', ';', '\t', '|'].map((one) => [one, line.split(one).length] as const)
  return counted.reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}
