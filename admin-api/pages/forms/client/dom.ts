/** Creates and finds elements without markup, as the policy of form pages requires. */

export type Root = Document | ShadowRoot

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, className = '', text = ''): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (className !== '') made.className = className
  if (text !== '') made.textContent = text
  return made
}

export const all = <E extends Element = HTMLElement>(within: ParentNode, selector: string): E[] => [...within.querySelectorAll<E>(selector)]

export const first = <E extends Element = HTMLElement>(within: ParentNode, selector: string): E | undefined =>
  within.querySelector<E>(selector) ?? undefined

/** Replaces names in braces by their values. */
export const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** Sets an attribute, or removes it if there is no value. */
export function attribute(on: Element, name: string, value: string | undefined): void {
  if (value === undefined) on.removeAttribute(name)
  else on.setAttribute(name, value)
}
