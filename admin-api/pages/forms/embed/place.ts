/** Where a page of another site wants a form, and how. */

export interface Place {
  readonly element: HTMLElement
  /** Of the service that the form is from. */
  readonly origin: string
  readonly id: string
  readonly mode: 'inline' | 'popup' | 'slide'
  readonly label: string
  readonly hasTitle: boolean
  /** What the form is filled in with, and its language. */
  readonly query: URLSearchParams
}

const prefill = 'data-prefill-'

export function placeOf(element: HTMLElement, origin: string): Place {
  const { dataset } = element
  const query = new URLSearchParams()
  const own = new URLSearchParams(location.search)
  for (const name of (dataset['passParams'] ?? '').split(',').map((each) => each.trim()))
    if (name !== '' && own.has(name)) query.set(name, own.get(name) ?? '')
  for (const name of element.getAttributeNames())
    if (name.startsWith(prefill)) query.set(name.slice(prefill.length), element.getAttribute(name) ?? '')
  if (dataset['lang']) query.set('lang', dataset['lang'])
  const mode = dataset['mode']
  return {
    ...{ element, origin, query, id: dataset['svcForm'] ?? '', mode: mode === 'popup' || mode === 'slide' ? mode : 'inline' },
    ...{ label: dataset['label'] ?? (element.textContent.trim() || 'Form'), hasTitle: dataset['title'] !== undefined },
  }
}

/** `ready`, `focus`, `step`, `submit` and `error`, for scripts of the page; never with answers. */
export function announce(element: Element, name: string, detail: Readonly<Record<string, unknown>>): void {
  element.dispatchEvent(new CustomEvent(`svc-form:${name}`, { detail, bubbles: true, composed: true }))
}
