/** Operations on the layout of a form: rows of 12 columns. All functions return a changed copy. */
import type { Field, Schema } from '#core/forms/definition/definition.ts'
import { rowsOf } from '#core/forms/definition/layout.ts'

interface Cell {
  readonly key: string
  readonly span: number
}

type Row = readonly Cell[]

const columns = 12

const rowsIn = (schema: Schema): readonly Row[] => rowsOf(schema).map((row) => row.map(({ field, span }) => ({ key: field.key, span })))

/** Returns field keys by row, in reading order. */
export const keysByRow = (schema: Schema): readonly (readonly string[])[] => rowsIn(schema).map((row) => row.map(({ key }) => key))

/** Returns a schema with these rows. Omits the layout if each field fills a row. */
function withRows({ fields }: Pick<Schema, 'fields'>, rows: readonly Row[]): Schema {
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const ordered = rows.flat().flatMap(({ key }) => {
    const field = byKey.get(key)
    if (!field) return []
    const { width: _width, ...rest } = field
    return [rest]
  })
  const isPlain = rows.every((row) => row.length === 1 && row[0]?.span === columns)
  const layout = {
    version: 1 as const,
    rows: rows.map((row) => ({ fields: row.map(({ key }) => key), spans: row.map(({ span }) => span) })),
  }
  return { version: 1, fields: ordered, ...(!isPlain && { layout }) }
}

const single = (key: string): Row => [{ key, span: columns }]
const shared = (keys: readonly string[]): Row => keys.map((key) => ({ key, span: Math.floor(columns / keys.length) }))

function placeOf(rows: readonly Row[], key: string): readonly [row: number, cell: number] {
  const row = rows.findIndex((cells) => cells.some((cell) => cell.key === key))
  return [row, rows[row]?.findIndex((cell) => cell.key === key) ?? -1]
}

/** Removes a field. The remaining fields of its row share the width. */
const without = (rows: readonly Row[], key: string): readonly Row[] =>
  rows.flatMap((row) => {
    const left = row.filter((cell) => cell.key !== key)
    return left.length === row.length ? [row] : left.length === 0 ? [] : [shared(left.map((cell) => cell.key))]
  })

/** Adds a field in a new row after another field, by default at the end. */
export function addField(schema: Schema, field: Field, after?: string): Schema {
  const rows = rowsIn(schema)
  const [at] = after === undefined ? [-1] : placeOf(rows, after)
  return withRows({ fields: [...schema.fields, field] }, rows.toSpliced(at < 0 ? rows.length : at + 1, 0, single(field.key)))
}

/** Adds a field in a new row before the row with index `before`. */
export function insertField(schema: Schema, field: Field, before: number): Schema {
  return withRows({ fields: [...schema.fields, field] }, rowsIn(schema).toSpliced(before, 0, single(field.key)))
}

export const removeField = (schema: Schema, key: string): Schema => withRows(schema, without(rowsIn(schema), key))

/** Moves a field up or down: past the adjacent row, or out of a shared row. */
export function moveField(schema: Schema, key: string, by: -1 | 1): Schema {
  const rows = rowsIn(schema)
  const [at] = placeOf(rows, key)
  const row = rows[at]
  if (!row) return schema
  if (row.length > 1) return withRows(schema, without(rows, key).toSpliced(by < 0 ? at : at + 1, 0, single(key)))
  const other = rows[at + by]
  if (!other) return schema
  return withRows(schema, rows.with(at, other).with(at + by, row))
}

/** Moves a field left or right within its row. */
export function shiftField(schema: Schema, key: string, by: -1 | 1): Schema {
  const rows = rowsIn(schema)
  const [at, cell] = placeOf(rows, key)
  const row = rows[at]
  const [mine, other] = [row?.[cell], row?.[cell + by]]
  return row && mine && other ? withRows(schema, rows.with(at, row.with(cell, other).with(cell + by, mine))) : schema
}

/** Moves a field to a new row before the row with index `before`. Indexes refer to the rows before the move. */
export function placeField(schema: Schema, key: string, before: number): Schema {
  const rows = rowsIn(schema)
  const [at] = placeOf(rows, key)
  const isAlone = rows[at]?.length === 1
  if (isAlone && (before === at || before === at + 1)) return schema
  return withRows(schema, without(rows, key).toSpliced(isAlone && before > at ? before - 1 : before, 0, single(key)))
}

/** Moves a field into the row of another field. */
export function joinField(schema: Schema, key: string, beside: string): Schema {
  const rows = without(rowsIn(schema), key)
  const [at] = placeOf(rows, beside)
  return withRows(schema, rows.with(at, shared([...(rows[at] ?? []).map((cell) => cell.key), key])))
}

export function spanOf(schema: Schema, key: string): number {
  const rows = rowsIn(schema)
  const [at, cell] = placeOf(rows, key)
  return rows[at]?.[cell]?.span ?? columns
}

/**
 * Sets the width of a field in columns. The other fields of its row share the remaining columns; without any, the field moves to a new row.
 */
export function sizeField(schema: Schema, key: string, span: number): Schema {
  const rows = rowsIn(schema)
  const [at, cell] = placeOf(rows, key)
  const row = rows[at]
  if (!row) return schema
  const others = row.length - 1
  if (others === 0) return withRows(schema, rows.with(at, [{ key, span }]))
  const rest = Math.floor((columns - span) / others)
  if (rest < 1) return withRows(schema, without(rows, key).toSpliced(at + 1, 0, single(key)))
  return withRows(
    schema,
    rows.with(
      at,
      row.map((one, i) => (i === cell ? { key, span } : { key: one.key, span: Math.min(one.span, rest) })),
    ),
  )
}

/** Returns the last field of each row that this field can join. Full rows and page breaks are excluded. */
export function besides(schema: Schema, key: string): readonly string[] {
  const types = new Map(schema.fields.map((field) => [field.key, field.type]))
  if (types.get(key) === 'page_break') return []
  return rowsIn(schema).flatMap((row) => {
    const last = row.at(-1)?.key
    const isOwn = row.some((cell) => cell.key === key)
    return last === undefined || isOwn || row.length >= 4 || types.get(last) === 'page_break' ? [] : [last]
  })
}

/** Returns the number of fields in the row of a field, and its index there. */
export function besideOf(schema: Schema, key: string): { readonly count: number; readonly at: number } {
  const rows = rowsIn(schema)
  const [row, at] = placeOf(rows, key)
  return { count: rows[row]?.length ?? 1, at }
}
