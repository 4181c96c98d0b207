/** Single keys: `g` and another go somewhere, others do what the screen offers. They can be switched off (WCAG 2.1.4). */
import { shortcuts } from './settings.ts'

type Action = () => void

/** What a key does at the moment; what was added last comes first. */
const bound: { readonly key: string; readonly run: Action }[] = []
let before: string | undefined

/** Binds keys until the returned function is called. A pair is written `g t`. */
export function bind(keys: Readonly<Record<string, Action>>): () => void {
  const mine = Object.entries(keys).map(([key, run]) => ({ key, run }))
  bound.unshift(...mine)
  return () => {
    for (const each of mine) bound.splice(bound.indexOf(each), 1)
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return
    const isCommand = event.metaKey || event.ctrlKey
    if (isCommand && event.key.toLowerCase() === 'k') return run('mod+k', event)
    if (isCommand || isTyping(event.target)) return undefined
    if (event.key !== 'Escape' && (!shortcuts.value || document.querySelector('dialog[open]'))) return undefined
    const pair = before === undefined ? undefined : `${before} ${event.key}`
    before = event.key === 'g' ? 'g' : undefined
    return run(pair !== undefined && has(pair) ? pair : event.key, event)
  })
}

const has = (key: string): boolean => bound.some((each) => each.key === key)

function run(key: string, event: KeyboardEvent): void {
  const found = bound.find((each) => each.key === key)
  if (!found) return
  event.preventDefault()
  found.run()
}
