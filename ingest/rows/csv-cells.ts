/**
 * CSV for spreadsheets: cells that a spreadsheet would run as a formula get an apostrophe in front, which reading takes
 * away again. What is written here and read back is what it was.
 */

// The full-width forms start formulas too, in some languages of some programs.
const startsFormula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** One record (RFC 4180 §2) with its line end. Every filled cell is quoted, so that no other separator splits it. */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => (cell === null || cell === '' ? '' : `"${neutral(cell).replaceAll('"', '""')}"`)).join(',')}\r\n`
}

/** A cell as it was before it was made harmless. */
export const restoredCell = (cell: string): string => (cell.startsWith("'") && startsFormula.test(cell) ? cell.slice(1) : cell)

const neutral = (cell: string): string => (startsFormula.test(cell) ? `'${cell}` : cell)
