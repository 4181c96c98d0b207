/** What is dragged over the designer at the moment: a type of field that is new, or a field of the form. */
import { signal } from '@preact/signals'
import type { FieldType } from '#core/forms/definition/definition.ts'
import type { FieldActions } from './actions.ts'

export type Dragged = { readonly type: FieldType } | { readonly key: string }

export const dragged = signal<Dragged | undefined>(undefined)

/** For an element that can be dragged; buttons do the same. */
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

/** It becomes a row of its own before the row of that number. */
export function dropBefore(actions: FieldActions, before: number): void {
  const what = dragged.value
  dragged.value = undefined
  if (!what) return
  if ('key' in what) actions.place(what.key, before)
  else actions.add(what.type, before)
}
