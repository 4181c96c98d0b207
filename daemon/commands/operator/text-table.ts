/** Text tables for responses of a daemon. */
import { cleanText } from '../../observability/clean-text.ts'

export type Json = Readonly<Record<string, unknown>>
type Rows = readonly (readonly unknown[])[]

/** Formats rows in columns and removes control characters. */
export function table(head: readonly string[] | undefined, rows: Rows): string {
  if (head && rows.length === 0) return ''
  const cells = [...(head ? [head] : []), ...rows].map((row) => row.map(cleanText)) // tenants choose names
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map(
      (row) =>
        `${row
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** A table, or a sentence when there are no rows. */
export const list = (none: string, head: readonly string[], rows: Rows): string => (rows.length === 0 ? `${none}\n` : table(head, rows))

export const sections = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')
export const francs = (rappen: unknown): string => (Number(rappen) / 100).toFixed(2)
