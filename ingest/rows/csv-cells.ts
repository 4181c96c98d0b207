/**
 * CSV for spreadsheets: cells that a spreadsheet would run as a formula get an apostrophe in front, which reading takes
 * away again. What is written here and read back is what it was.
 */

// The full-width forms start formulas too, in some languages of some programs.
const startsFormula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** One record (RFC 4180 §2) with its line end. Filled cells of text are quoted, so that no other separator splits them. */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(written).join(',')}\r\n`

function written(cell: string | number | null): string {
  if (cell === null || cell === '') return ''
  return typeof cell === 'number' ? String(cell) : `"${neutral(cell).replaceAll('"', '""')}"`
}

/** A cell as it was before it was made harmless. */
export const restoredCell = (cell: string): string => (cell.startsWith("'") && startsFormula.test(cell) ? cell.slice(1) : cell)

const neutral = (cell: string): string => (startsFormula.test(cell) ? `'${cell}` : cell)
