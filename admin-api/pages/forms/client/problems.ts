/** Shows problems at the field and in a summary at the top. A problem disappears as soon as it is fixed. */
import type { Evaluation } from '#core/forms/definition/evaluate.ts'
import { all, attribute, element, filled, first } from './dom.ts'
import type { FormState } from './form-state.ts'

export class Problems {
  readonly #state: FormState
  readonly #shown = new Map<string, string>()
  #summary: HTMLElement | undefined

  constructor(state: FormState) {
    this.#state = state
    const given = state.form.parentElement && first(state.form.parentElement, '.summary')
    this.#summary = given ?? undefined
    for (const place of all(state.form, '.wrong[data-field]'))
      this.#shown.set(place.dataset['field'] ?? '', first(place, '.error')?.textContent ?? '')
    this.#summary?.addEventListener('click', this.#follow)
  }

  /** Shows the problems of these fields and moves to the summary. Returns false if there are no problems. */
  report(problems: ReadonlyMap<string, string>): boolean {
    for (const key of [...this.#shown.keys()]) if (!problems.has(key)) this.#mark(key, undefined)
    for (const [key, sentence] of problems) this.#mark(key, sentence)
    this.#summarize()
    this.#read()
    return problems.size > 0
  }

  /** Checks the field that lost the focus. */
  check(key: string, { problems }: Pick<Evaluation, 'problems'>): void {
    const [problem] = problems[key] ?? []
    this.#mark(key, problem && this.#state.sentence(key, problem))
    if (!problem && this.#summary) this.#summarize()
  }

  /** Removes problems that are fixed. */
  forget({ problems, visible }: Evaluation): void {
    const gone = [...this.#shown.keys()].filter((key) => !problems[key] || !visible.has(key))
    for (const key of gone) this.#mark(key, undefined)
    if (gone.length > 0 && this.#summary) this.#summarize()
  }

  /** Shows that the form was not sent for a reason other than its fields. */
  say(sentence: string): void {
    const summary = this.#place()
    summary.replaceChildren(element('p', 'title', sentence))
    this.#read()
  }

  #read(): void {
    this.#summary?.focus({ preventScroll: true })
    this.#summary?.scrollIntoView({ block: 'center' })
  }

  #goTo(key: string): void {
    const place = this.#state.place(key)
    const chosen = place && (first<HTMLInputElement>(place, 'input:checked') ?? first(place, 'input:not([hidden]), select, textarea'))
    chosen?.focus({ preventScroll: true })
    place?.scrollIntoView({ block: 'center' })
  }

  #mark(key: string, sentence: string | undefined): void {
    const place = this.#state.place(key)
    if (!place || this.#shown.get(key) === sentence) return
    const id = `f-${key}-error`
    first(place, '.error')?.remove()
    place.classList.toggle('wrong', sentence !== undefined)
    const group = first(place, 'fieldset')
    const described = group ?? first(place, 'input, select, textarea')
    const others = (described?.getAttribute('aria-describedby') ?? '').split(' ').filter((each) => each !== '' && each !== id)
    if (sentence === undefined) this.#shown.delete(key)
    else {
      this.#shown.set(key, sentence)
      const error = element('p', 'error', sentence)
      const sign = element('i')
      sign.ariaHidden = 'true'
      error.prepend(sign)
      error.id = id
      others.push(id)
      const before = all(place, '.help').at(-1) ?? first(place, '.label')
      if (before) before.after(error)
      else (group ?? place).prepend(error)
    }
    if (!described) return
    attribute(described, 'aria-describedby', others.length > 0 ? others.join(' ') : undefined)
    if (!group) attribute(described, 'aria-invalid', sentence === undefined ? undefined : 'true')
  }

  #summarize(): void {
    const { texts } = this.#state.plan
    const keys = this.#state.plan.schema.layout?.rows.flatMap(({ fields }) => fields).filter((key) => this.#shown.has(key)) ?? []
    const isWrong = document.title.startsWith(`${texts.errorPrefix}: `)
    const isPage = this.#state.root === document
    if (keys.length === 0) {
      this.#summary?.remove()
      this.#summary = undefined
      if (isWrong && isPage) document.title = document.title.slice(texts.errorPrefix.length + 2)
      return
    }
    if (!isWrong && isPage) document.title = `${texts.errorPrefix}: ${document.title}`
    const { errorTitles, errorKept } = texts
    const title = filled(errorTitles[keys.length - 1] ?? errorTitles.at(-1) ?? '', { count: keys.length })
    const list = element('ul')
    for (const key of keys) {
      const link = element('a', '', this.#shown.get(key))
      link.href = `#f-${key}`
      const item = element('li')
      item.append(link)
      list.append(item)
    }
    const parts = [element('p', 'title', title), element('p', '', errorKept), list]
    const summary = this.#place()
    if (summary.textContent !== parts.map(({ textContent }) => textContent).join('')) summary.replaceChildren(...parts)
  }

  #place(): HTMLElement {
    if (this.#summary) return this.#summary
    const summary = element('div', 'summary')
    summary.setAttribute('role', 'alert')
    summary.tabIndex = -1
    summary.addEventListener('click', this.#follow)
    this.#state.form.insertAdjacentElement('beforebegin', summary)
    this.#summary = summary
    return summary
  }

  readonly #follow = (event: MouseEvent): void => {
    const key = event.target instanceof Element ? event.target.closest('a')?.hash.slice('#f-'.length) : undefined
    if (!key) return
    event.preventDefault()
    this.#goTo(key)
  }
}
