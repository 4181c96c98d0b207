/** Which columns the list of traces has: chosen in this browser, in one order. */
import { signal } from '@preact/signals'

/** Those that can be left out; the time, the status and the subject are always there. */
export const columnNames = [
  ...(['path', 'outcome', 'from', 'to', 'template', 'destination'] as const),
  ...(['project', 'door', 'attempts', 'size', 'took'] as const),
] as const
export type ColumnName = (typeof columnNames)[number]

/** The path shows the outcome, too: its words are left to windows that have room for them. */
const usual = columnNames.filter((name) =>
  name === 'outcome' ? matchMedia('(min-width: 1440px)').matches : ['path', 'to', 'destination', 'took'].includes(name),
)
/** Of a list that is only a look. */
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
    // a browser without storage forgets when the window closes
  }
}
