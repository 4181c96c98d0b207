/** The rows of a CSV file whose first record names the columns. */
import type { GivenRow } from '#core/feedback/suppression/suppression-import.ts'
import { restoredCell } from './csv-cells.ts'
import { readCsv, type CsvRecord } from './csv.ts'
import { UnreadableRows } from './rows-text.ts'

/**
 * Reads rows, those of a piece together, by the names of the header row, in lower case. Empty cells are fields that are not given. Throws
 * `UnreadableRows` when the header row is missing, lacks the column `needed` or names one twice, and as `readCsv` does.
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
  if (!columns) throw new UnreadableRows(`is empty; the first row must name the columns, one of them ${needed}`)
}

function rowsOf(columns: readonly string[], records: readonly CsvRecord[]): readonly GivenRow[] {
  return records.map(({ cells, problem }) => {
    if (problem !== undefined) return { problem: `the row ${problem}` }
    if (cells.length <= columns.length) return { fields: fieldsOf(columns, cells) }
    return { problem: `the row has ${cells.length} cells, the header row names ${columns.length}; put cells with commas in quotes` }
  })
}

function columnsOf(cells: readonly string[], needed: string): readonly string[] {
  const columns = cells.map((cell) => cell.trim().toLowerCase())
  const twice = columns.find((name, i) => name !== '' && columns.indexOf(name) !== i)
  if (twice !== undefined) throw new UnreadableRows(`the header row names the column ${shown(twice)} twice`)
  if (columns.includes(needed)) return columns
  const found = columns.slice(0, 10).map(shown).join(', ')
  throw new UnreadableRows(`the first row must name the columns, separated by commas, one of them ${needed}; it reads: ${found}`)
}

/** On one line, and short. */
const shown = (name: string): string => name.replaceAll(/\p{C}/gu, '?').slice(0, 40).toWellFormed()

function fieldsOf(columns: readonly string[], cells: readonly string[]): Readonly<Record<string, string>> {
  const fields = Object.create(null) as Record<string, string>
  for (const [i, cell] of cells.entries()) {
    const name = columns[i]
    if (name !== undefined && name !== '' && cell !== '') fields[name] = restoredCell(cell)
  }
  return fields
}
