/** What a form in a page holds: the answers in its controls, and what they make of the form. */
import { evaluate, type Evaluation } from '#core/forms/definition/evaluate.ts'
import { withOther } from '../scripts/other-answers.ts'
import type { FormPlan } from '../scripts/plan-types.ts'
import { first, type Root } from './dom.ts'

/**
 * A field may be called like a property of forms, such as `action` or `closest`, which it then hides: of the form itself, only names with
 * capital letters are used, which no field can have.
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

  /** The same evaluation as that of the service, of what is filled in at the moment. */
  evaluation(): Evaluation {
    const values: Record<string, string[]> = {}
    const files = new Set<string>()
    for (const [name, value] of new FormData(this.form))
      if (typeof value === 'string') (values[name] ??= []).push(value)
      else if (value.name !== '') files.add(name)
    return evaluate(this.plan, { values: withOther(values), files, today: today(), slackDays: 0 })
  }

  /** Where the form is sent to. */
  get address(): URL {
    return new URL(this.form.getAttribute('action') ?? '', document.baseURI)
  }

  /** What is around the form. */
  around(selector: string): HTMLElement | undefined {
    return this.form.parentElement?.closest<HTMLElement>(selector) ?? undefined
  }

  /** The part of the page in which a field stands. */
  place(key: string): HTMLElement | undefined {
    return first(this.form, `[data-field="${key}"]`)
  }

  sentence(key: string, { code, message }: { readonly code: string; readonly message: string }): string {
    const { sentences, labels } = this.plan
    return sentences[key]?.[code] ?? `${labels[key] ?? key}: ${message}`
  }
}

/** Where the visitor is. */
function today(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}
