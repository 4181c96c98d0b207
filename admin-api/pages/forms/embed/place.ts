/** A place for a form in a page of another site, with its options. */

export interface Place {
  readonly element: HTMLElement
  /** Origin of the service that provides the form. */
  readonly origin: string
  readonly id: string
  readonly mode: 'inline' | 'popup' | 'slide'
  readonly label: string
  readonly hasTitle: boolean
  /** Prefilled answers and the language of the form. */
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

/** Dispatches `ready`, `focus`, `step`, `submit` and `error` for scripts of the page; never with answers. */
export function announce(element: Element, name: string, detail: Readonly<Record<string, unknown>>): void {
  element.dispatchEvent(new CustomEvent(`svc-form:${name}`, { detail, bubbles: true, composed: true }))
}
