/**
 * The logic of a form in words, for visitors without a script. The words say when a question applies or is required, and where a page
 * leads.
 */
import { fieldsIn } from '#core/forms/definition/conditions.ts'
import type { Comparison, Condition, Field, Rule } from '#core/forms/definition/definition.ts'
import type { FormPage } from '#core/forms/definition/layout.ts'
import type { FormTexts } from './texts/texts-for.ts'

/** Sentences for the rules of a field or page. */
export interface ConditionNotes {
  readonly shown: readonly string[]
  readonly needed: readonly string[]
  /** All rules, in as few sentences as possible. */
  readonly said: readonly string[]
}

export class ConditionTexts {
  readonly #rules: readonly Rule[]
  readonly #fields: ReadonlyMap<string, Field>
  readonly #pages: readonly FormPage[]
  readonly #texts: FormTexts

  constructor(rules: readonly Rule[], fields: readonly Field[], pages: readonly FormPage[], texts: FormTexts) {
    this.#rules = rules
    this.#fields = new Map(fields.map((field) => [field.key, field]))
    this.#pages = pages
    this.#texts = texts
  }

  /** Returns the notes of a field by its key, or of a page by `page:N`. */
  of(target: string): ConditionNotes {
    const having = (action: string): readonly string[] =>
      this.#rules
        .filter(({ then }) => then.some((each) => each.action === action && each.target === target))
        .map(({ when }) => this.#say(when))
    const { onlyIf, onlyIfThenNeeded, notIf, neededIf, notNeededIf, or } = this.#texts.logic
    const joined = (list: readonly string[], sentence: (parameters: { readonly condition: string }) => string): readonly string[] =>
      list.length === 0 ? [] : [sentence({ condition: list.join(or) })]
    const [show, hide, require, unrequire] = [having('show'), having('hide'), having('require'), having('unrequire')]
    const shown = [...joined(show, onlyIf), ...joined(hide, notIf)]
    const needed = [...joined(require, neededIf), ...joined(unrequire, notNeededIf)]
    const isBoth = hide.length + unrequire.length === 0 && show.join(or) === require.join(or)
    return { shown, needed, said: isBoth ? joined(show, onlyIfThenNeeded) : [...shown, ...needed] }
  }

  /** Returns the jumps of the page to pages other than the next one. */
  jumpsFrom(number: number): readonly string[] {
    const { skipTo, skipToEnd } = this.#texts.logic
    return this.#rules.flatMap(({ when, then }) => {
      if (this.#decidingPage(when) !== number) return []
      return then.flatMap(({ action, page }) => {
        if (action !== 'jump' || page === undefined) return []
        return [page === 'submit' ? skipToEnd({ condition: this.#say(when) }) : skipTo({ condition: this.#say(when), page })]
      })
    })
  }

  get hasJumps(): boolean {
    return this.#rules.some(({ then }) => then.some(({ action }) => action === 'jump'))
  }

  #decidingPage(when: Condition): number {
    const keys = new Set(fieldsIn(when))
    return this.#pages.findLast(({ rows }) => rows.some((row) => row.some(({ field }) => keys.has(field.key))))?.number ?? 1
  }

  #say(condition: Condition, isInside = false): string {
    const { and, or, not } = this.#texts.logic
    if ('not' in condition) return not({ condition: this.#say(condition.not, true) })
    if ('all' in condition || 'any' in condition) {
      const parts = 'all' in condition ? condition.all : condition.any
      const text = parts.map((part) => this.#say(part, parts.length > 1)).join('all' in condition ? and : or)
      return isInside && parts.length > 1 ? `(${text})` : text
    }
    return this.#compare(condition)
  }

  #compare({ field: key, op, value }: Comparison): string {
    const field = this.#fields.get(key)
    const { quoted, or } = this.#texts.logic
    const right = (each: unknown): string => {
      if (typeof each === 'object' && each !== null && 'field' in each) return quoted({ text: this.#labelOf(String(each.field)) })
      return quoted({ text: field?.options?.find((option) => option.value === each)?.label.split('\n')[0] ?? String(each) })
    }
    const values = Array.isArray(value) ? value.map(right).join(or) : right(value)
    return this.#texts.operators[op]({ field: quoted({ text: this.#labelOf(key) }), value: values })
  }

  #labelOf(key: string): string {
    const field = this.#fields.get(key)
    return field?.label ?? field?.text?.split('\n')[0] ?? key
  }
}
