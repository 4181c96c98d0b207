/**
 * Makes a form interactive: steps, logic, errors at the field, sending in the background. Without the script the form is still complete.
 */
import type { Evaluation } from '#core/forms/definition/evaluate.ts'
import { fillTimeKey } from '#core/forms/definition/definition.ts'
import type { FormPlan } from '../scripts/plan-types.ts'
import { countCharacters } from './counters.ts'
import { first, type Root } from './dom.ts'
import { showFiles } from './files.ts'
import { FormState } from './form-state.ts'
import { LogicView } from './logic-view.ts'
import { Problems } from './problems.ts'
import { SavedAnswers } from './saved-answers.ts'
import { Sending } from './sending.ts'
import { Steps } from './steps.ts'

/** Callbacks to the page around a form. */
export interface Surroundings {
  /** Called after a change of the step. */
  stepped(step: number): void
  /** Called when the form was sent; `thanks` is the address of the thank-you page. */
  sent(submission: { readonly id: string; readonly thanks: string }): void
  failed(code: string): void
  /** Called when a newer version of the form must replace it. The answers are saved for the new version. */
  renewed(form: HTMLFormElement, message: string): void
}

function planIn(root: ParentNode): FormPlan | undefined {
  const text = first(root, 'script.plan')?.textContent
  return text ? (JSON.parse(text) as FormPlan) : undefined
}

/** `message` is the reason why the form replaces another one. */
export function enhance(root: Root, surroundings: Surroundings, message?: string): void {
  const form = first<HTMLFormElement>(root, '.pf form')
  const plan = planIn(root)
  if (form && plan) new LiveForm(new FormState(root, form, plan), surroundings).begin(message)
}

class LiveForm {
  readonly #state: FormState
  readonly #surroundings: Surroundings
  readonly #logic: LogicView
  readonly #problems: Problems
  readonly #steps: Steps
  readonly #sending: Sending
  readonly #saved: SavedAnswers
  readonly #count: () => void
  /** Keys of the fields that were changed. */
  readonly #touched = new Set<string>()
  readonly #reached = new Set<number>()
  #isPressed = false
  #left: string | undefined
  #isSent = false

  constructor(state: FormState, surroundings: Surroundings) {
    this.#state = state
    this.#surroundings = surroundings
    this.#logic = new LogicView(state)
    this.#problems = new Problems(state)
    this.#sending = new Sending(state)
    this.#saved = new SavedAnswers(state)
    this.#count = countCharacters(state)
    showFiles(state)
    this.#steps = new Steps(state, (page) => {
      this.#progress(page)
      surroundings.stepped(page)
    })
  }

  begin(message: string | undefined): void {
    const { form, root } = this.#state
    form.noValidate = true
    this.#state.around('.pf')?.classList.add('live')
    const page = this.#saved.restore()
    this.#refresh(false)
    const wrong = first(form, '.wrong[data-field]')?.dataset['field']
    const shown = wrong === undefined ? page : this.#steps.pageOf(wrong)
    if (shown !== undefined) this.#steps.show(shown, false)
    this.#steps.onNext(() => this.#goOn())
    form.addEventListener('input', (event) => this.#changed(event.target))
    form.addEventListener('focusout', (event) => this.#wasLeft(event))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (this.#steps.isLast) void this.#send()
      else this.#goOn()
    })
    root.addEventListener('click', (event) => this.#steps.follow(event))
    // an element that appears during a click would move its target
    root.addEventListener('pointerdown', () => (this.#isPressed = true))
    for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(() => this.#released()))
    addEventListener('pagehide', () => this.#saved.save(this.#steps.page))
    // a sent page that the browser restores from its cache starts again
    addEventListener('pageshow', ({ persisted }) => persisted && this.#isSent && location.reload())
    if (message !== undefined) this.#problems.say(message)
  }

  #refresh(isAnnounced: boolean): Evaluation {
    const evaluation = this.#state.evaluation()
    this.#logic.apply(evaluation, isAnnounced)
    this.#steps.set(evaluation.pages)
    this.#problems.forget(evaluation)
    this.#count()
    return evaluation
  }

  #changed(target: EventTarget | null): void {
    const key = keyOf(target)
    if (key === undefined) return
    this.#touched.add(key)
    if (target instanceof HTMLInputElement && target.className === 'other') chooseOther(target)
    const evaluation = this.#refresh(true)
    this.#progress(this.#steps.page)
    // a file is complete when it is chosen, and an emptied file field is not an error yet
    if (target instanceof HTMLInputElement && target.type === 'file')
      this.#problems.check(key, target.value === '' ? { problems: {} } : evaluation)
    const isText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !/radio|checkbox|file/.test(target.type))
    if (!isText) this.#saved.save(this.#steps.page)
  }

  #wasLeft({ target, relatedTarget }: FocusEvent): void {
    const key = keyOf(target)
    if (key === undefined || key === keyOf(relatedTarget) || !this.#touched.has(key)) return
    this.#saved.save(this.#steps.page)
    if (this.#isPressed) this.#left = key
    else this.#problems.check(key, this.#state.evaluation())
  }

  #released(): void {
    this.#isPressed = false
    const key = this.#left
    this.#left = undefined
    if (key !== undefined && !this.#sending.isBusy) this.#problems.check(key, this.#state.evaluation())
  }

  #goOn(): void {
    const evaluation = this.#refresh(false)
    const here = [...sentences(this.#state, evaluation)].filter(([key]) => this.#steps.pageOf(key) === this.#steps.page)
    if (this.#problems.report(new Map(here))) return
    this.#steps.next()
    this.#saved.save(this.#steps.page)
  }

  async #send(): Promise<void> {
    if (this.#sending.isBusy || this.#isSent) return
    const evaluation = this.#refresh(false)
    if (this.#report(sentences(this.#state, evaluation))) return
    const sent = await this.#sending.send(evaluation.visible)
    if (sent && !('error' in sent)) {
      this.#isSent = true
      this.#saved.clear()
      this.#surroundings.sent(sent)
      return
    }
    const { code = 'not_sent', message = this.#state.plan.texts.notSent, details: { version, fields: wrong = {} } = {} } = sent?.error ?? {}
    if (version) {
      this.#saved.save(0, version)
      return this.#surroundings.renewed(this.#state.form, message)
    }
    this.#sending.end()
    const fields = Object.entries(wrong).filter(([key]) => this.#state.place(key))
    this.#surroundings.failed(code)
    if (this.#report(new Map(fields.map(([key, [{ message }]]) => [key, message])))) return
    this.#problems.say(message)
  }

  /** Opens the step of the first problem. */
  #report(problems: ReadonlyMap<string, string>): boolean {
    const [key] = problems.keys()
    const page = key === undefined ? undefined : this.#steps.pageOf(key)
    if (page !== undefined) this.#steps.show(page, false)
    return this.#problems.report(problems)
  }

  /** Reports progress once for each page, after the first answer. A failed report does not affect the form. */
  #progress(page: number): void {
    if (this.#reached.has(page)) return
    this.#reached.add(page)
    const { address, form, plan } = this.#state
    const token = first<HTMLInputElement>(form, `input[name="${fillTimeKey}"]`)?.value ?? ''
    void fetch(new URL(`/v1/public/forms/${plan.id}/progress`, address), {
      ...{ method: 'POST', keepalive: true, headers: { 'content-type': 'application/json' }, credentials: 'omit' },
      body: JSON.stringify({ fill_time_token: token, page }),
    }).catch(() => undefined)
  }
}

const sentences = (state: FormState, { problems }: Evaluation): ReadonlyMap<string, string> =>
  new Map(Object.entries(problems).flatMap(([key, [problem]]) => (problem ? [[key, state.sentence(key, problem)] as const] : [])))

const keyOf = (target: EventTarget | null): string | undefined =>
  target instanceof Element ? target.closest<HTMLElement>('[data-field]')?.dataset['field'] : undefined

/** Selects "other" when the visitor types a text for it. */
function chooseOther(text: HTMLInputElement): void {
  const mark = text.closest('[data-field]')?.querySelector<HTMLInputElement>('input[type="radio"][value="~other"]')
  if (mark && text.value !== '') mark.checked = true
}
