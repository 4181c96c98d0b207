/** Values of rows for comparison in tests: one field, or some fields. */

/** Returns the value of a field of each row, or of a field within that field. */
export function column<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][]
export function column<Row, Name extends keyof Row, Inner extends keyof Row[Name]>(
  rows: readonly Row[],
  name: Name,
  inner: Inner,
): Row[Name][Inner][]
export function column<Row, Name extends keyof Row>(rows: readonly Row[], name: Name, inner?: keyof Row[Name]): unknown[] {
  return rows.map((row) => (inner === undefined ? row[name] : row[name][inner]))
}

/** Returns the values of some fields, row by row. */
export const columns = <Row>(rows: readonly Row[], ...names: (keyof Row)[]): unknown[][] =>
  rows.map((row) => names.map((name) => row[name]))
