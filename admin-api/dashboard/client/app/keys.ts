/**
 * Single-key shortcuts: `g` and a second key open a screen, other keys run actions of the screen. Users can switch them off or remap each
 * one (WCAG 2.1.4).
 */
import { useLayoutEffect, type Inputs } from 'preact/hooks'
import { keyMap, shortcuts } from './settings.ts'

type Action = () => void

/** Bound keys and their actions. The latest binding has priority. */
const bound: { readonly key: string; readonly run: Action }[] = []
let before: string | undefined

/** Keys that users can remap, in the order of the settings. */
export const ownKeys = ['/', 'j', 'k', 'x', 'm', '[', ']', 'n', 'e', 'u', 'r', 's', 't', 'a', 'g', '?', '\\'] as const
export type OwnKey = (typeof ownKeys)[number]

/**
 * Binds keys while a component is mounted, and again when one of `inputs` changes. A pair is written `g t`. A layout effect binds them
 * together with the DOM change, so that a key never acts on outdated content.
 */
export function useKeys(keys: Readonly<Record<string, Action>>, inputs: Inputs): void {
  useLayoutEffect(() => bind(keys), inputs)
}

function bind(keys: Readonly<Record<string, Action>>): () => void {
  const mine = Object.entries(keys).map(([key, run]) => ({ key, run }))
  bound.unshift(...mine)
  return () => {
    for (const each of mine) bound.splice(bound.indexOf(each), 1)
  }
}

/** Returns the physical key for a binding. */
export const pressedFor = (key: string): string => keyMap.value[key] ?? key

/** Returns the binding of a pressed key. Returns undefined if the binding was moved to another key. */
export function meantBy(pressed: string): string | undefined {
  const chosen = Object.entries(keyMap.value).find(([, own]) => own === pressed)
  if (chosen) return chosen[0]
  return keyMap.value[pressed] === undefined ? pressed : undefined
}

/** Value for `aria-keyshortcuts`. Undefined while single keys are switched off. */
export const keyFor = (key: string): string | undefined => (shortcuts.value ? pressedFor(key) : undefined)

/** Returns the label of a key that is pressed with the command key of the platform. */
export const commandKey = (key: string): string => (/mac|iphone|ipad/i.test(navigator.userAgent) ? `⌘${key}` : `Ctrl ${key}`)

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || (/^(input|textarea|select)$/i.test(target.tagName) && !isBox(target)))

const isBox = (target: HTMLElement): boolean => target instanceof HTMLInputElement && target.type === 'checkbox'

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return
    const isCommand = event.metaKey || event.ctrlKey
    // an open dialog blocks all shortcuts and handles Escape itself
    if (document.querySelector('dialog[open]')) return undefined
    if (isCommand && event.key.toLowerCase() === 'k') return run('mod+k', event)
    if (!isCommand && isForFilter(event)) return event.preventDefault()
    if (isCommand || isTyping(event.target)) return undefined
    if (event.key !== 'Escape' && !shortcuts.value) return undefined
    const pair = before === undefined ? undefined : `${before} ${event.key}`
    const key = meantBy(event.key)
    before = key === 'g' ? 'g' : undefined
    return run(pair !== undefined && has(pair) ? pair : key, event)
  })
}

/** In a filter field, Escape clears the text, then leaves the field, and the down key focuses the first row after it. */
function isForFilter({ key, target: field, isComposing }: KeyboardEvent): boolean {
  if (isComposing || !(field instanceof HTMLInputElement) || !/^(text|search)$/.test(field.type)) return false
  if (!field.closest('[role="search"], .query-bar')) return false
  if (key === 'ArrowDown') return focusRowAfter(field)
  if (key !== 'Escape') return false
  if (field.value === '') field.blur()
  else clear(field)
  return true
}

function clear(field: HTMLInputElement): void {
  field.value = ''
  field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  // the form renders the empty field first
  setTimeout(() => field.form?.requestSubmit())
}

function focusRowAfter(field: HTMLElement): boolean {
  for (const row of document.querySelectorAll<HTMLElement>('main :is([data-row], tbody tr, ul li, ol li)')) {
    const isAfter = (field.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
    const target = row.tabIndex >= 0 || row.hasAttribute('tabindex') ? row : row.querySelector<HTMLElement>('a[href], button')
    if (!isAfter || !target || row.getClientRects().length === 0) continue
    target.focus()
    return true
  }
  return false
}

const has = (key: string): boolean => bound.some((each) => each.key === key)

function run(key: string | undefined, event: KeyboardEvent): void {
  const found = bound.find((each) => each.key === key)
  if (!found) return
  event.preventDefault()
  found.run()
}
