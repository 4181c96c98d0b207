/** Restores answers after a reload, in the same tab and for the same version of the form. Masked answers are not stored. */
import { all, type Control } from './dom.ts'
import type { FormState } from './form-state.ts'
import { otherOf } from '../scripts/other-answers.ts'

interface Saved {
  readonly page: number
  readonly values: Readonly<Record<string, readonly string[]>>
}

export class SavedAnswers {
  readonly #state: FormState
  /** Prefix of the storage key; the version follows. */
  readonly #name: string
  readonly #kept: ReadonlySet<string>
  #isOver = false

  constructor(state: FormState) {
    this.#state = state
    this.#name = `postern.form.${state.plan.id}.`
    const fields = state.plan.schema.fields.filter(
      ({ type, email_mask: isMasked }) => !isMasked && type !== 'hidden' && type !== 'file_upload',
    )
    this.#kept = new Set(fields.flatMap(({ key }) => [key, otherOf(key)]))
  }

  /** Saves the answers with the current page. `version` can be a newer version, which then starts with these answers. */
  save(page: number, version = this.#state.plan.version): void {
    if (this.#isOver) return
    const values = Object.create(null) as Record<string, string[]>
    for (const [key, value] of new FormData(this.#state.form))
      if (typeof value === 'string' && this.#kept.has(key)) (values[key] ??= []).push(value)
    this.#store((storage) => storage.setItem(this.#name + version, JSON.stringify({ page, values } satisfies Saved)))
  }

  /** Returns the page that the visitor was on; undefined if nothing is stored. */
  restore(): number | undefined {
    const text = this.#store((storage) => storage.getItem(this.#name + this.#state.plan.version))
    if (!text || !this.#state.plan.isFresh) return undefined
    const { page, values } = JSON.parse(text) as Saved
    const given = new URLSearchParams(location.search)
    for (const control of all<Control>(this.#state.form, 'input, select, textarea'))
      if (this.#kept.has(control.name) && !given.has(control.name)) fill(control, values[control.name] ?? [])
    return page
  }

  /** Removes the answers after sending. */
  clear(): void {
    this.#isOver = true
    this.#store((storage) => storage.removeItem(this.#name + this.#state.plan.version))
  }

  /** Browsers may deny access to storage. */
  #store<T>(use: (storage: Storage) => T): T | undefined {
    try {
      return use(sessionStorage)
    } catch {
      return undefined
    }
  }
}

function fill(control: Control, values: readonly string[]): void {
  if (control instanceof HTMLInputElement && (control.type === 'radio' || control.type === 'checkbox'))
    control.checked = values.includes(control.value)
  else control.value = values[0] ?? ''
}
