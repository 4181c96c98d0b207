/** Shows and hides fields by the logic of the form while it is filled in. */
import type { Evaluation } from '#core/forms/definition/evaluate.ts'
import { all, attribute, element, filled, first } from './dom.ts'
import type { FormState } from './form-state.ts'
import { otherValue } from '../scripts/other-answers.ts'

export class LogicView {
  readonly #state: FormState
  /** Announces fields that appear to screen readers. */
  readonly #status = element('p', 'unseen')

  constructor(state: FormState) {
    this.#state = state
    this.#status.setAttribute('role', 'status')
    state.form.insertAdjacentElement('beforeend', this.#status)
    // conditions in words are only for visitors without a script
    for (const sentence of all(state.form, '.only, .skip-to')) sentence.remove()
    for (const described of all(state.form, '[aria-describedby]')) {
      const ids = (described.getAttribute('aria-describedby') ?? '').split(' ').filter((id) => !id.endsWith('-if'))
      attribute(described, 'aria-describedby', ids.length > 0 ? ids.join(' ') : undefined)
    }
  }

  apply({ visible, required }: Evaluation, isAnnounced: boolean): void {
    const { form, plan } = this.#state
    const appeared: string[] = []
    for (const place of all(form, '.conditional[data-field]')) {
      const key = place.dataset['field'] ?? ''
      const cell = place.closest<HTMLElement>('.cell') ?? place
      const isShown = visible.has(key)
      if (cell.hidden && isShown && plan.labels[key] !== undefined) appeared.push(plan.labels[key])
      cell.hidden = !isShown
    }
    for (const row of all(form, '.row')) row.hidden = all(row, ':scope > .cell').every(({ hidden }) => hidden)
    for (const place of all(form, '[data-necessity]')) this.#sayNecessity(place, required.has(place.dataset['field'] ?? ''))
    for (const text of all<HTMLInputElement>(form, 'input.other')) text.hidden = !this.#isOther(text)
    if (isAnnounced && appeared.length > 0)
      this.#status.textContent = appeared.map((label) => filled(plan.texts.oneMore, { label })).join(' ')
  }

  /** Rules can make a field required or optional. */
  #sayNecessity(place: HTMLElement, isRequired: boolean): void {
    const { isMostlyNeeded, texts } = this.#state.plan
    const label = first(place, '.label')
    const mark = first(place, '.necessity') ?? label?.appendChild(element('span', 'necessity'))
    const text = isRequired === isMostlyNeeded ? '' : ` ${isRequired ? texts.needed : texts.optional}`
    if (mark && mark.textContent !== text) mark.textContent = text
    const control = first(place, 'input:not([type="radio"]), select, textarea')
    if (control) attribute(control, 'aria-required', isRequired ? 'true' : undefined)
  }

  #isOther(text: HTMLInputElement): boolean {
    const field = text.closest('[data-field]')
    const chosen = field && first<HTMLInputElement | HTMLSelectElement>(field, 'select, input[type="radio"]:checked')
    return chosen?.value === otherValue
  }
}
