/** Reads the rows of a CSV file with a header row. */
import type { GivenRow } from '#core/feedback/suppression/suppression-import.ts'
import { restoredCell } from './csv-cells.ts'
import { readCsv, type CsvRecord } from './csv.ts'
import { UnreadableRows } from './rows-text.ts'

/**
 * Reads rows as fields by column name in lower case; each batch holds the rows of one piece of input. Empty cells are omitted. Throws
 * `UnreadableRows` if the header row is missing, lacks the column `needed` or repeats a name, and in the cases of `readCsv`.
 */
export async function* readCsvRows(bytes: AsyncIterable<Uint8Array>, needed: string): AsyncGenerator<readonly GivenRow[]> {
  let columns: readonly string[] | undefined
  for await (const records of readCsv(bytes)) {
    const [header] = records
    if (!header) continue
    if (columns) yield rowsOf(columns, records)
    else {
      columns = columnsOf(header.cells, needed)
      yield rowsOf(columns, records.slice(1))
    }
  }
  if (!columns) throw new UnreadableRows(`is empty; the first row must contain the column names, including ${needed}`)
}

function rowsOf(columns: readonly string[], records: readonly CsvRecord[]): readonly GivenRow[] {
  return records.map(({ cells, problem }) => {
    if (problem !== undefined) return { problem: `the row ${problem}` }
    if (cells.length <= columns.length) return { fields: fieldsOf(columns, cells) }
    return {
      problem: `the row has ${cells.length} cells, but the header row has ${columns.length}; put cells that contain commas in quotes`,
    }
  })
}

function columnsOf(cells: readonly string[], needed: string): readonly string[] {
  const columns = cells.map((cell) => cell.trim().toLowerCase())
  const twice = columns.find((name, i) => name !== '' && columns.indexOf(name) !== i)
  if (twice !== undefined) throw new UnreadableRows(`the header row contains the column ${shown(twice)} twice`)
  if (columns.includes(needed)) return columns
  const found = columns.slice(0, 10).map(shown).join(', ')
  throw new UnreadableRows(`the first row must contain the column names, separated by commas, including ${needed}; found: ${found}`)
}

/** A name for an error message: one line, at most 40 characters. */
const shown = (name: string): string => name.replaceAll(/\p{C}/gu, '?').slice(0, 40).toWellFormed()

function fieldsOf(columns: readonly string[], cells: readonly string[]): Readonly<Record<string, string>> {
  const fields = Object.create(null) as Record<string, string>
  for (const [i, cell] of cells.entries()) {
    const name = columns[i]
    if (name !== undefined && name !== '' && cell !== '') fields[name] = restoredCell(cell)
  }
  return fields
}
