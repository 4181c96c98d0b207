/**
 * Single keys: `g` and another go somewhere, others do what the screen offers. They can be switched off, and each can be another one
 * (WCAG 2.1.4).
 */
import { useLayoutEffect, type Inputs } from 'preact/hooks'
import { keyMap, shortcuts } from './settings.ts'

type Action = () => void

/** What a key does at the moment; what was added last comes first. */
const bound: { readonly key: string; readonly run: Action }[] = []
let before: string | undefined

/** Keys that people can choose others for, in the order in which they are shown. */
export const ownKeys = ['/', 'j', 'k', 'x', '[', ']', 'c', 'e', 'u', 'r', 's', 't', 'a', 'g', '?', '\\'] as const
export type OwnKey = (typeof ownKeys)[number]

/**
 * Binds keys while a part is shown, and anew when one of `inputs` changes. A pair is written `g t`. It is done together with the change of
 * the page, not after it has been painted: a key never acts on what was shown before.
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

/** The key that is pressed for what is bound to this one. */
export const pressedFor = (key: string): string => keyMap.value[key] ?? key

/** What a pressed key stands for; nothing where another one was chosen in its place. */
export function meantBy(pressed: string): string | undefined {
  const chosen = Object.entries(keyMap.value).find(([, own]) => own === pressed)
  if (chosen) return chosen[0]
  return keyMap.value[pressed] === undefined ? pressed : undefined
}

/** For `aria-keyshortcuts`; nothing while single keys are switched off. */
export const keyFor = (key: string): string | undefined => (shortcuts.value ? pressedFor(key) : undefined)

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || (/^(input|textarea|select)$/i.test(target.tagName) && !isBox(target)))

const isBox = (target: HTMLElement): boolean => target instanceof HTMLInputElement && target.type === 'checkbox'

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return
    const isCommand = event.metaKey || event.ctrlKey
    // what lies behind a dialog does nothing, and Escape is the dialog's own
    if (document.querySelector('dialog[open]')) return undefined
    if (isCommand && event.key.toLowerCase() === 'k') return run('mod+k', event)
    if (isCommand || isTyping(event.target)) return undefined
    if (event.key !== 'Escape' && !shortcuts.value) return undefined
    const pair = before === undefined ? undefined : `${before} ${event.key}`
    const key = meantBy(event.key)
    before = key === 'g' ? 'g' : undefined
    return run(pair !== undefined && has(pair) ? pair : key, event)
  })
}

const has = (key: string): boolean => bound.some((each) => each.key === key)

function run(key: string | undefined, event: KeyboardEvent): void {
  const found = bound.find((each) => each.key === key)
  if (!found) return
  event.preventDefault()
  found.run()
}
