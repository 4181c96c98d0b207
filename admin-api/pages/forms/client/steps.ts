/** Shows one step at a time without a request: forward and back buttons, the list of steps, the title of the page. */
import { all, attribute, element, filled, first } from './dom.ts'
import type { FormState } from './form-state.ts'

export class Steps {
  readonly #state: FormState
  readonly #sections: ReadonlyMap<number, HTMLElement>
  readonly #name: string
  readonly #submit: HTMLElement | undefined
  readonly #next = element('button', 'next')
  readonly #back = element('button', 'quiet back')
  readonly #onShown: (page: number) => void
  #order: readonly number[] = []
  #at: number

  constructor(state: FormState, onShown: (page: number) => void) {
    this.#state = state
    this.#onShown = onShown
    this.#sections = new Map(all(state.form, '.step[data-page]').map((section) => [Number(section.dataset['page']), section]))
    this.#at = [...this.#sections.keys()][0] ?? 1
    this.#name = document.title
    this.#submit = first(state.form, '.actions button[type=submit]')
    if (!this.#isStepped) return
    for (const button of [this.#back, this.#next]) button.type = 'button'
    this.#submit?.before(this.#back, this.#next)
    this.#back.addEventListener('click', () => this.#step(-1))
    for (const section of this.#sections.values()) this.#prepare(section)
  }

  get page(): number {
    return this.#at
  }

  get isLast(): boolean {
    return this.#order.at(-1) === this.#at || this.#order.length === 0
  }

  get #isStepped(): boolean {
    return this.#sections.size > 1
  }

  onNext(press: () => void): void {
    this.#next.addEventListener('click', press)
  }

  /** Returns the page of a field. */
  pageOf(key: string): number | undefined {
    const section = this.#state.place(key)?.closest<HTMLElement>('.step')
    return section ? Number(section.dataset['page']) : undefined
  }

  /** Sets the visible pages, which answers may change. */
  set(pages: ReadonlySet<number>): void {
    if (!this.#isStepped) return
    this.#order = [...this.#sections.keys()].filter((page) => pages.has(page))
    if (!this.#order.includes(this.#at)) this.#at = this.#order.findLast((page) => page < this.#at) ?? this.#order[0] ?? this.#at
    this.#draw()
  }

  next(): void {
    this.#step(1)
  }

  show(page: number, isFocused: boolean): void {
    if (!this.#order.includes(page)) return
    const isOther = page !== this.#at
    this.#at = page
    this.#draw()
    if (isOther) this.#onShown(page)
    if (!isFocused) return
    const heading = first(this.#sections.get(page) ?? this.#state.form, 'h2')
    heading?.focus({ preventScroll: true })
    const sheet = this.#state.around('.sheet') ?? this.#state.form
    if (sheet.getBoundingClientRect().top < 0 || matchMedia('(max-width: 639px)').matches) sheet.scrollIntoView({ block: 'start' })
  }

  #step(by: number): void {
    const page = this.#order[this.#order.indexOf(this.#at) + by]
    if (page !== undefined) this.show(page, true)
  }

  #prepare(section: HTMLElement): void {
    const heading = first(section, 'h2')
    if (!heading) return
    heading.tabIndex = -1
    heading.before(element('p', 'step-of'))
  }

  #draw(): void {
    const { steps, texts } = this.#state.plan
    const place = this.#order.indexOf(this.#at)
    const current = steps.find(({ page }) => page === this.#at)
    const following = steps.find(({ page }) => page === this.#order[place + 1])
    const of = filled(texts.stepOf, { at: place + 1, of: this.#order.length })
    for (const [page, section] of this.#sections) section.hidden = page !== this.#at
    const line = first(this.#sections.get(this.#at) ?? this.#state.form, '.step-of')
    if (line) line.textContent = of
    this.#back.textContent = current?.back ?? ''
    this.#next.textContent = following?.next ?? ''
    this.#back.hidden = place <= 0
    this.#next.hidden = this.isLast
    if (this.#submit) this.#submit.hidden = !this.isLast
    for (const late of all(this.#state.form, '.captcha, .fine')) late.hidden = !this.isLast
    for (const rule of all(this.#state.form, '.rule')) rule.hidden = place > 0
    if (this.#state.root === document) document.title = `${of}: ${current?.title ?? ''} – ${this.#name}`
    for (const item of all(this.#state.root, '.stepper li[data-page]')) this.#drawItem(item, place)
  }

  #drawItem(item: HTMLElement, place: number): void {
    const own = this.#order.indexOf(Number(item.dataset['page']))
    const link = first<HTMLAnchorElement>(item, 'a')
    const disc = first(item, '.disc')
    item.hidden = own === -1
    item.className = own < place ? 'done' : own === place ? 'current' : 'later'
    if (!link || !disc) return
    disc.textContent = own < place ? '' : String(own + 1)
    attribute(link, 'aria-current', own === place ? 'step' : undefined)
    attribute(link, 'href', own < place ? `#step-${String(item.dataset['page'])}` : undefined)
  }

  /** Opens a completed step after a click in the list of steps. */
  follow(event: Event): void {
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>('.stepper li.done') : null
    if (!item) return
    event.preventDefault()
    this.show(Number(item.dataset['page']), true)
  }
}
