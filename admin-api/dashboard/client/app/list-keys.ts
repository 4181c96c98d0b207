/** The keys of a list beside what is opened from it: from one to the next and back, to the search, and out of what is open. */
import { useKeys } from './keys.ts'

interface ListKeys<T> {
  readonly rows: readonly T[]
  /** The row that is open; undefined while none is. */
  readonly isOpen: (row: T) => boolean
  readonly onOpen: (row: T) => void
  /** In place of opening the first row or the last one while none is open. */
  readonly begin?: (() => void) | undefined
  /** Undefined while nothing is open. */
  readonly onClose?: (() => void) | undefined
  /** Id of the search of the list. */
  readonly search?: string
  readonly others?: Readonly<Record<string, () => void>> | undefined
}

/** Returns how to go so many rows further. The keys follow what is shown, so they change with `places`. */
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
