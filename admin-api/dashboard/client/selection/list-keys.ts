/** Shortcuts of a list with a detail view: next and previous row, search, and close. */
import { useKeys } from '../app/keys.ts'

interface ListKeys<T> {
  readonly rows: readonly T[]
  readonly isOpen: (row: T) => boolean
  readonly onOpen: (row: T) => void
  /** Replaces opening the first or last row if no row is open. */
  readonly begin?: (() => void) | undefined
  /** Undefined while no row is open. */
  readonly onClose?: (() => void) | undefined
  /** Element id of the search field. */
  readonly search?: string
  readonly others?: Readonly<Record<string, () => void>> | undefined
}

/** Returns a function that moves by a number of rows. The bindings are renewed whenever `places` changes. */
export function useListKeys<T>(
  { rows, isOpen, onOpen, begin, onClose, search, others }: ListKeys<T>,
  places: readonly unknown[],
): (by: number) => void {
  const step = (by: number): void => {
    const at = rows.findIndex(isOpen)
    if (at < 0 && begin) return begin()
    const next = at < 0 ? rows.at(by > 0 ? 0 : -1) : rows[at + by]
    if (next !== undefined) onOpen(next)
  }
  useKeys(
    {
      ...{ j: () => step(1), k: () => step(-1), ']': () => step(1), '[': () => step(-1) },
      ...(search !== undefined && { '/': () => document.getElementById(search)?.focus() }),
      ...(onClose && { Escape: onClose }),
      ...others,
    },
    [rows, ...places],
  )
  return step
}
