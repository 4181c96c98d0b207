/** Shows one short message at a time about a finished action, with an optional undo button. */
import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { texts } from '../texts/shell-texts.ts'

interface Toast {
  readonly text: string
  readonly undo?: (() => void) | undefined
}

const shown = signal<Toast | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined
const shownMs = 8000

export function toast(text: string, undo?: () => void): void {
  clearTimeout(timer)
  shown.value = { text, undo }
  timer = setTimeout(expire, shownMs)
}

/** Hides the toast. It stays while it is hovered or focused (WCAG 2.2.1). */
function expire(): void {
  if (document.querySelector('.toast:is(:hover, :focus-within)')) timer = setTimeout(expire, shownMs)
  else shown.value = undefined
}

/** Undoes the action of the toast. Called by its button and by Ctrl/Cmd+Z. */
export function undoLast(): void {
  const { undo } = shown.value ?? {}
  shown.value = undefined
  undo?.()
}

export const hasUndo = (): boolean => shown.value?.undo !== undefined

export const Toasts = (): JSX.Element => (
  <div class="toasts" role="status">
    {shown.value && (
      <div class="toast">
        <span>{shown.value.text}</span>
        {shown.value.undo && <button onClick={undoLast}>{texts().undo}</button>}
      </div>
    )}
  </div>
)
