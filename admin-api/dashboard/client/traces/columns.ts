/** Columns of the trace list, chosen per browser. Their order is fixed. */
import { signal } from '@preact/signals'

/** Optional columns. Time, status and subject are always visible. */
export const columnNames = [
  ...(['path', 'outcome', 'from', 'to', 'template', 'destination'] as const),
  ...(['project', 'door', 'attempts', 'size', 'took'] as const),
] as const
export type ColumnName = (typeof columnNames)[number]

/** Default columns. The path shows the outcome too, so the outcome column appears only in wide windows. */
const usual = columnNames.filter((name) =>
  name === 'outcome' ? matchMedia('(min-width: 1440px)').matches : ['path', 'to', 'destination', 'took'].includes(name),
)
/** Columns of a preview list. */
export const shortColumns: ReadonlySet<ColumnName> = new Set(['path', 'to', 'destination'])

const key = 'postern.trace-columns'

function stored(): readonly ColumnName[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
    return Array.isArray(names) ? columnNames.filter((name) => names.includes(name)) : usual
  } catch {
    return usual
  }
}

export const columns = signal<ReadonlySet<ColumnName>>(new Set(stored()))

export function showColumn(name: ColumnName, isShown: boolean): void {
  columns.value = new Set(columnNames.filter((one) => (one === name ? isShown : columns.value.has(one))))
  try {
    localStorage.setItem(key, JSON.stringify([...columns.value]))
  } catch {
    // without storage, the choice lasts until the window closes
  }
}
