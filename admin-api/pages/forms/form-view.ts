/** Input of a form page: the form, the surrounding texts, the current answers and their problems. */
import type { Field } from '#core/forms/definition/definition.ts'
import { valueKinds } from '#core/forms/definition/field-properties.ts'
import { pagesOf, type FormPage } from '#core/forms/definition/layout.ts'
import type { PublicForm } from '#core/forms/submissions/public-forms.ts'
import { ConditionTexts } from './condition-texts.ts'
import type { Pieces } from './kept/pieces.ts'
import { type FormTexts, textsFor } from './texts/texts-for.ts'

/** By field key, in the form that browsers send. */
export type Values = Readonly<Record<string, readonly string[]>>

export interface FormView {
  readonly form: PublicForm
  readonly texts: FormTexts
  readonly pages: readonly FormPage[]
  readonly conditions: ConditionTexts
  readonly values: Values
  /** Error texts by field key. */
  readonly problems: Readonly<Record<string, string>>
  /** Keys of fields whose files arrived with this submission, since browsers do not keep files. */
  readonly filesSent: ReadonlySet<string>
  /** Most questions require an answer, so only optional ones are marked. */
  readonly isMostlyNeeded: boolean
  /** `YYYY-MM-DD`. */
  readonly today: string
  /** Signature of hidden values that must be signed. */
  readonly signature: string | undefined
  /** Cached parts that visitors share; undefined for drafts, which change. */
  readonly pieces?: Pieces
}

export interface Filled {
  readonly values: Values
  readonly problems?: FormView['problems']
  readonly signature?: string | undefined
  readonly filesSent?: FormView['filesSent']
}

export function viewOf(form: PublicForm, { values, problems = {}, signature, filesSent = new Set() }: Filled, nowMs: number): FormView {
  const texts = textsFor(form.locale)
  const pages = pagesOf(form.schema)
  const questions = form.schema.fields.filter((field) => isQuestion(field))
  return {
    ...{ form, texts, pages, values, problems, signature, filesSent },
    conditions: new ConditionTexts(form.logic.rules, form.schema.fields, pages, texts),
    isMostlyNeeded: questions.filter(isNeeded).length * 2 > questions.length,
    today: new Date(nowMs).toISOString().slice(0, 10),
  }
}

export const isQuestion = ({ type }: Field): boolean => type !== 'hidden' && valueKinds[type] !== 'none'

/** Returns whether the field requires an answer when it is visible. */
export const isNeeded = ({ required, must_be_true: mustBeTrue }: Field): boolean => required === true || mustBeTrue === true

/** Returns whether the field is always visible, so that browsers may require an answer. */
export function isAlwaysAsked({ conditions, pages }: FormView, field: Field): boolean {
  const notes = conditions.of(field.key)
  const page = pages.find(({ rows }) => rows.some((row) => row.some((placed) => placed.field === field)))
  const isSkippable =
    page !== undefined && (conditions.of(`page:${page.number}`).shown.length > 0 || (page.number > 1 && conditions.hasJumps))
  return notes.shown.length === 0 && notes.needed.length === 0 && !isSkippable
}

/** Returns the values of a field before the visitor answers. */
export function usualValues({ default: own }: Field): readonly string[] | undefined {
  return own === undefined ? undefined : [own].flat().map(String)
}

/** Returns the first value of a field. */
export const valueOf = ({ values }: FormView, key: string): string => (Object.hasOwn(values, key) ? (values[key]?.[0] ?? '') : '')
