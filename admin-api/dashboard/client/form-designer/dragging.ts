/** The item that the user is dragging in the designer: a new field type or an existing field. */
import { signal } from '@preact/signals'
import type { FieldType } from '#core/forms/definition/definition.ts'
import type { FieldActions } from './actions.ts'

export type Dragged = { readonly type: FieldType } | { readonly key: string }

export const dragged = signal<Dragged | undefined>(undefined)

/** Drag handlers of an element. Buttons offer the same actions. */
export const dragging = (what: Dragged) => ({
  draggable: true,
  onDragStart(event: DragEvent) {
    dragged.value = what
    event.dataTransfer?.setData('text/plain', 'key' in what ? what.key : what.type)
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move'
  },
  onDragEnd() {
    dragged.value = undefined
  },
})

/** Drops the item as a separate row before the row with index `before`. */
export function dropBefore(actions: FieldActions, before: number): void {
  const what = dragged.value
  dragged.value = undefined
  if (!what) return
  if ('key' in what) actions.place(what.key, before)
  else actions.add(what.type, before)
}
