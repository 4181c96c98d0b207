/** Selection of rows by `x` or checkboxes, and the bar of bulk actions. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { keyFor, useKeys } from '../app/keys.ts'
import { texts } from '../texts/texts.ts'

/** Renders buttons for the selected rows. `done` clears the selection. */
export type Bulk<T> = (rows: readonly T[], done: () => void) => ComponentChildren

export interface Selection<T> {
  readonly rows: readonly T[]
  readonly has: (key: string) => boolean
  readonly toggle: (key: string) => void
  readonly setAll: (isChosen: boolean) => void
  readonly clear: () => void
}

/** Returns the key of the row that contains the focus. */
export const keyOfFocusedRow = (): string | undefined => document.activeElement?.closest<HTMLElement>('main [data-row]')?.dataset['row']

/** Keys that are no longer in the list do not count as selected. */
export function useSelection<T>(rows: readonly T[], keyOf: (row: T) => string, isOn: boolean): Selection<T> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  const clear = (): void => setKeys(new Set())
  const toggle = (key: string): void =>
    setKeys((before) => (before.has(key) ? new Set([...before].filter((one) => one !== key)) : new Set([...before, key])))
  const chosen = rows.filter((row) => keys.has(keyOf(row)))
  const isAny = chosen.length > 0
  const toggleFocused = (): void => {
    const key = keyOfFocusedRow()
    if (key !== undefined) toggle(key)
  }
  useKeys({ ...(isOn && { x: toggleFocused }), ...(isOn && isAny && { Escape: clear }) }, [isOn, isAny])
  return {
    rows: chosen,
    ...{ clear, toggle },
    has: (key) => keys.has(key),
    setAll: (isChosen) => setKeys(new Set(isChosen ? rows.map(keyOf) : [])),
  }
}

interface BoxProps {
  readonly label: string
  readonly isChosen: boolean
  readonly onToggle: () => void
}

const Check = ({ label, isChosen, onToggle }: BoxProps): JSX.Element => (
  <input type="checkbox" class="choose" aria-label={label} aria-keyshortcuts={keyFor('x')} checked={isChosen} onChange={onToggle} />
)

/** Checkbox of a table row. The label covers the whole cell, because a click next to the box would open the row. */
export const Box = (props: BoxProps): JSX.Element => (
  <label class="wide-box">
    <Check {...props} />
  </label>
)

/** Checkbox at the left of a row on phones, with a finger-sized target. */
export const NarrowBox = (props: BoxProps): JSX.Element => (
  <label class="narrow-box">
    <Check {...props} />
  </label>
)

interface BarProps<T> {
  readonly selection: Selection<T>
  readonly bulk: Bulk<T>
}

/** Replaces the table head. */
export function SelectionBar<T>({ selection: { rows, clear }, bulk }: BarProps<T>): JSX.Element | null {
  const w = texts()
  if (rows.length === 0) return null
  return (
    <div class="selection-bar" role="toolbar" aria-label={w.chosenRows}>
      <span role="status">{w.chosenCount({ n: rows.length })}</span>
      {bulk(rows, clear)}
      <button class="button quiet small end" type="button" onClick={clear}>
        {w.clearChoice}
      </button>
    </div>
  )
}
