/** Layout of fields: rows of a 12-column grid, the reading order, and the pages. */
import { isObject, type Findings } from './checks.ts'
import { definitionLimits, type Field, type Schema, type WidthToken } from './definition.ts'

export interface PlacedField {
  readonly field: Field
  /** Number of columns, of 12. */
  readonly span: number
}

export type PlacedRow = readonly PlacedField[]

/** One step of a form. Numbers start at 1. */
export interface FormPage {
  readonly number: number
  /** The page break at the start of the page; the first page may have none. */
  readonly start: Field | undefined
  readonly rows: readonly PlacedRow[]
}

const columns = 12
const widths: Readonly<Record<WidthToken, number>> = { full: 12, half: 6, third: 4, two_thirds: 8 }

/** Returns the displayed rows. A layout overrides field widths. Fields missing in the layout follow, one per row. */
export function rowsOf({ fields, layout }: Schema): readonly PlacedRow[] {
  if (!layout) return packed(fields)
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const rows = layout.rows.map(({ fields: keys, spans }) =>
    keys.flatMap((key, at) => {
      const field = byKey.get(key)
      byKey.delete(key)
      return field ? [{ field, span: spans?.[at] ?? Math.floor(columns / keys.length) }] : []
    }),
  )
  return [...rows.filter((row) => row.length > 0), ...[...byKey.values()].map((field) => [{ field, span: columns }])]
}

/** Fills rows with fields from left to right. */
function packed(fields: readonly Field[]): readonly PlacedRow[] {
  const rows: PlacedField[][] = []
  let left = 0
  for (const field of fields) {
    const span = field.type === 'page_break' ? columns : widths[field.width ?? 'full']
    if (span > left) {
      rows.push([])
      left = columns
    }
    rows.at(-1)?.push({ field, span })
    left -= span
  }
  return rows
}

/** Returns all fields in reading order. */
export const inReadingOrder = (schema: Schema): readonly Field[] => rowsOf(schema).flatMap((row) => row.map(({ field }) => field))

/** Returns the pages. A page break starts a new page, except at the start of the form. */
export function pagesOf(schema: Schema): readonly FormPage[] {
  const pages: { number: number; start: Field | undefined; rows: PlacedRow[] }[] = [{ number: 1, start: undefined, rows: [] }]
  for (const [at, row] of rowsOf(schema).entries()) {
    const [first] = row
    if (first?.field.type !== 'page_break') pages.at(-1)?.rows.push(row)
    else if (at === 0) pages.splice(0, 1, { number: 1, start: first.field, rows: [] })
    else pages.push({ number: pages.length + 1, start: first.field, rows: [] })
  }
  return pages
}

/** Checks a layout against the fields; `types` has the type of each field key. */
export function checkLayout(layout: unknown, types: ReadonlyMap<string, string>, found: Findings): void {
  const path = 'schema.layout'
  if (!isObject(layout) || layout['version'] !== 1 || !Array.isArray(layout['rows']))
    return found.report(path, 'invalid_type', 'must be {"version": 1, "rows": […]}')
  const rows = layout['rows'] as readonly unknown[]
  if (rows.length > definitionLimits.fields)
    return found.report(`${path}.rows`, 'too_many', `must have at most ${definitionLimits.fields} entries`)
  const placed = new Set<string>()
  for (const [at, row] of rows.entries()) checkRow(row, `${path}.rows[${at}]`, { types, placed }, found)
}

function checkRow(
  row: unknown,
  path: string,
  { types, placed }: { readonly types: ReadonlyMap<string, string>; readonly placed: Set<string> },
  found: Findings,
): void {
  const keys = isObject(row) ? row['fields'] : undefined
  if (!isObject(row) || !Array.isArray(keys) || keys.length === 0 || keys.length > columns)
    return found.report(path, 'invalid_type', `must be {"fields": […]} with 1 to ${columns} keys of fields`)
  for (const [at, key] of (keys as readonly unknown[]).entries()) {
    const type = typeof key === 'string' ? types.get(key) : undefined
    if (typeof key !== 'string' || type === undefined)
      found.report(`${path}.fields[${at}]`, 'layout_unknown_field', 'is not the key of a field')
    else if (placed.has(key)) found.report(`${path}.fields[${at}]`, 'layout_duplicate_field', 'is placed twice')
    else if (type === 'page_break' && keys.length > 1)
      found.report(`${path}.fields[${at}]`, 'layout_page_break', 'is a page_break, so it must be the only field in its row')
    if (typeof key === 'string') placed.add(key)
  }
  const { spans } = row
  if (spans === undefined) return
  const isList = Array.isArray(spans) && spans.length === keys.length
  if (!isList || !spans.every((span) => Number.isInteger(span) && span >= 1 && span <= columns))
    return found.report(`${path}.spans`, 'layout_spans', `must be a whole number from 1 to ${columns} for each field of the row`)
  if ((spans as readonly number[]).reduce((sum, span) => sum + span, 0) > columns)
    found.report(`${path}.spans`, 'layout_span_overflow', `must add up to at most ${columns}`)
}
