/** The search in the header: a combobox that loads the index at first use. ARIA Authoring Practices, combobox. */
import type { Found } from '../search-options.ts'

/** Interface that `search.ts` adds to the page when it is loaded. */
export interface LoadedSearch {
  find(words: string): readonly Found[]
}

declare global {
  var docsSearch: LoadedSearch | undefined
  var docsIndex: string | undefined
}

const maxQuery = 100

/** Attributes of the page with the addresses of results and search files. */
const site = document.documentElement.dataset

let loading: Promise<LoadedSearch> | undefined

/** Loads by script elements, since a page opened from a file can load only scripts. */
function load(): Promise<LoadedSearch> {
  const script = (source: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const element = document.createElement('script')
      element.src = source
      element.addEventListener('load', () => resolve())
      element.addEventListener('error', () => reject(new Error(`${source} was not loaded`)))
      document.head.append(element)
    })
  loading ??= script(site['index'] ?? '')
    .then(() => script(site['search'] ?? ''))
    .then(() => {
      if (!globalThis.docsSearch) throw new Error('the search did not start')
      return globalThis.docsSearch
    })
    .catch((error: unknown) => {
      loading = undefined
      throw error
    })
  return loading
}

export function prepareSearch(): void {
  const box = document.querySelector<HTMLElement>('.search')
  const input = box?.querySelector('input')
  const list = box?.querySelector<HTMLElement>('.found')
  const status = box?.querySelector<HTMLElement>('[role=status]')
  if (!box || !input || !list || !status) return
  box.hidden = false
  const view = new ResultView(input, list, status)
  const opener = document.querySelector<HTMLButtonElement>('button.find')
  if (opener) opener.hidden = false
  opener?.addEventListener('click', () => {
    document.body.classList.add('searching')
    input.focus()
  })
  const close = (): void => {
    view.close()
    document.body.classList.remove('searching')
  }
  input.addEventListener('focus', () => void load().catch(() => undefined))
  input.addEventListener('input', () => void view.search(input.value))
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close()
      if (opener?.checkVisibility()) opener.focus()
    } else view.takeKey(event)
  })
  document.addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !box.contains(target) && !opener?.contains(target)) close()
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]') !== null
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    document.body.classList.add('searching')
    input.focus()
  })
}

class ResultView {
  readonly #input: HTMLInputElement
  readonly #list: HTMLElement
  readonly #status: HTMLElement
  #chosen = -1

  constructor(input: HTMLInputElement, list: HTMLElement, status: HTMLElement) {
    this.#input = input
    this.#list = list
    this.#status = status
  }

  async search(words: string): Promise<void> {
    const wanted = words.trim().slice(0, maxQuery)
    if (wanted === '') return this.close()
    try {
      const search = await load()
      if (this.#input.value === words) this.#show(search.find(wanted), wanted)
    } catch {
      this.#say('The search could not be loaded. Use the list of chapters instead.')
    }
  }

  close(): void {
    this.#list.hidden = true
    this.#list.replaceChildren()
    this.#status.textContent = ''
    this.#input.ariaExpanded = 'false'
    this.#choose(-1)
  }

  takeKey(event: KeyboardEvent): void {
    const options = this.#options()
    if (options.length === 0) return
    if (event.key === 'Enter') options[Math.max(this.#chosen, 0)]?.click()
    else if (event.key === 'ArrowDown') this.#choose((this.#chosen + 1) % options.length)
    else if (event.key === 'ArrowUp') this.#choose(this.#chosen <= 0 ? options.length - 1 : this.#chosen - 1)
    else return
    event.preventDefault()
  }

  #options(): readonly HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>('[role=option]')]
  }

  #choose(index: number): void {
    this.#chosen = index
    for (const [at, option] of this.#options().entries()) option.ariaSelected = String(at === index)
    const option = this.#options()[index]
    if (option) {
      this.#input.setAttribute('aria-activedescendant', option.id)
      option.scrollIntoView({ block: 'nearest' })
    } else this.#input.removeAttribute('aria-activedescendant')
  }

  #show(found: readonly Found[], wanted: string): void {
    if (found.length === 0) return this.#say(`No results for “${wanted}”. Try fewer words, or a code such as rate_limit_exceeded.`)
    this.#list.replaceChildren(...found.map((one, index) => optionOf(one, index)))
    this.#list.hidden = false
    this.#input.ariaExpanded = 'true'
    this.#status.textContent = found.length === 1 ? '1 result' : `${String(found.length)} results`
    this.#choose(-1)
  }

  #say(sentence: string): void {
    const line = document.createElement('p')
    line.textContent = sentence
    this.#list.replaceChildren(line)
    this.#list.hidden = false
    this.#status.textContent = sentence
    this.#choose(-1)
  }
}

function optionOf({ path, anchor, title, heading, section, excerpt }: Found, index: number): HTMLElement {
  const link = document.createElement('a')
  link.role = 'option'
  link.id = `found-${String(index)}`
  link.tabIndex = -1
  link.ariaSelected = 'false'
  link.href = (site['page'] ?? '').replace('*', path) + (anchor === '' ? '' : `#${anchor}`)
  link.append(
    part('b', heading === '' ? title : heading),
    part('i', heading === '' ? section : `${section} / ${title}`),
    part('span', excerpt),
  )
  return link
}

function part(name: 'b' | 'i' | 'span', text: string): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  return element
}
