/** State of a form in a page: the answers in its controls, and their evaluation. */
import { definitionLimits } from '#core/forms/definition/definition.ts'
import { evaluate, type Evaluation } from '#core/forms/definition/evaluate.ts'
import { withOther } from '../scripts/other-answers.ts'
import type { FormPlan } from '../scripts/plan-types.ts'
import { first, type Root } from './dom.ts'

/**
 * A field may have the name of a property of forms, such as `action` or `closest`, and hide it. Only properties with capital letters are
 * used on the form, since no field can have such a name.
 */
export class FormState {
  readonly root: Root
  readonly form: HTMLFormElement
  readonly plan: FormPlan

  constructor(root: Root, form: HTMLFormElement, plan: FormPlan) {
    this.root = root
    this.form = form
    this.plan = plan
  }

  /** Evaluates the current answers with the code of the service. */
  evaluation(): Evaluation {
    const values = Object.create(null) as Record<string, string[]>
    const files = new Map<string, File>()
    for (const [name, value] of new FormData(this.form))
      if (typeof value === 'string') (values[name] ??= []).push(value)
      else if (value.name !== '') files.set(name, value)
    const found = evaluate(this.plan, { values: withOther(values), files: new Set(files.keys()), today: today(), slackDays: 0 })
    return { ...found, problems: { ...found.problems, ...this.#faultsOf(files, found.visible) } }
  }

  /** Returns file problems that the service would report only after sending. */
  #faultsOf(files: ReadonlyMap<string, File>, visible: ReadonlySet<string>): Evaluation['problems'] {
    const faults: Record<string, readonly [{ code: 'file_too_large' | 'file_type_not_allowed'; message: string }]> = {}
    for (const { key, max_bytes: maxBytes = definitionLimits.fileBytes } of this.plan.schema.fields) {
      const file = files.get(key)
      if (!file || !visible.has(key)) continue
      if (file.size > maxBytes) faults[key] = [{ code: 'file_too_large', message: '' }]
      // the type comes from the file name, which may be wrong; the service checks the content
      else if (file.type !== '' && !takenType.test(file.type)) faults[key] = [{ code: 'file_type_not_allowed', message: '' }]
    }
    return faults
  }

  /** Address that the form is sent to. */
  get address(): URL {
    return new URL(this.form.getAttribute('action') ?? '', document.baseURI)
  }

  /** Returns an element around the form. */
  around(selector: string): HTMLElement | undefined {
    return this.form.parentElement?.closest<HTMLElement>(selector) ?? undefined
  }

  /** Returns the element that contains a field. */
  place(key: string): HTMLElement | undefined {
    return first(this.form, `[data-field="${key}"]`)
  }

  sentence(key: string, { code }: { readonly code: string }): string {
    return this.plan.sentences[key]?.[code] ?? ''
  }
}

/** File types that a form can accept. */
const takenType = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/

/** Returns the date in the time zone of the visitor. */
function today(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}
