/**
 * CSV for spreadsheets. A cell that a spreadsheet would run as a formula gets a leading apostrophe. Reading removes the apostrophe, so a
 * written cell reads back unchanged.
 */

// Some programs also accept the full-width forms in some languages.
const startsFormula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** One record (RFC 4180 §2) with its line end. Text cells are quoted unless empty, so that no other separator splits them. */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(written).join(',')}\r\n`

function written(cell: string | number | null): string {
  if (cell === null || cell === '') return ''
  return typeof cell === 'number' ? String(cell) : `"${neutral(cell).replaceAll('"', '""')}"`
}

/** Removes the apostrophe that protects a cell from running as a formula. */
export const restoredCell = (cell: string): string => (cell.startsWith("'") && startsFormula.test(cell) ? cell.slice(1) : cell)

const neutral = (cell: string): string => (startsFormula.test(cell) ? `'${cell}` : cell)
