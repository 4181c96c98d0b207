/** Reorders rows by dragging. Buttons and keys offer the same. */
import { useState } from 'preact/hooks'

export interface Dragging<T> {
  /** Rows can only be exchanged within a group. */
  readonly groupOf: (row: T) => string
  /** Moves the row to the position of `target`. */
  readonly onDrop: (row: T, target: T) => void
}

/** Returns the drag props of a table row. Empty if rows cannot move. */
export function useDrag<T>(rows: readonly T[], keyOf: (row: T) => string, drag: Dragging<T> | undefined) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  return (row: T): object => {
    if (!drag) return {}
    const key = keyOf(row)
    const held = rows.find((one) => keyOf(one) === dragged)
    const isTarget = held !== undefined && held !== row && drag.groupOf(held) === drag.groupOf(row)
    const end = (): void => {
      setDragged(undefined)
      setOver(undefined)
    }
    return {
      draggable: true,
      'data-drop': isTarget && over === key ? (rows.indexOf(held) < rows.indexOf(row) ? 'behind' : 'before') : undefined,
      onDragStart: (event: DragEvent) => {
        event.dataTransfer?.setData('text/plain', key)
        setDragged(key)
      },
      onDragOver: (event: DragEvent) => {
        if (!isTarget) return
        event.preventDefault()
        setOver(key)
      },
      onDragEnd: end,
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        end()
        if (isTarget) drag.onDrop(held, row)
      },
    }
  }
}
