/** Problems of answers as sentences with the next step. */
import type { Field } from '#core/forms/definition/definition.ts'
import { rangeSentence } from '../texts/range-texts.ts'
import type { FormTexts } from '../texts/texts-for.ts'

export interface Problem {
  readonly code: string
  readonly message: string
}

const chosen = new Set<Field['type']>(['select', 'radio', 'checkboxes', 'rating', 'scale'])

/** Returns the owner's text, or ours in the language of the form; undefined if only the check has a text. */
export function knownSentence(texts: FormTexts, field: Field, code: string): string | undefined {
  const isMissing = code === 'required' || code === 'must_accept' || code === 'file_missing'
  if (isMissing && field.required_message !== undefined) return field.required_message
  const known = code === 'required' && chosen.has(field.type) ? 'unanswered' : code
  const label = field.label ?? field.key
  if (known === 'out_of_range') return rangeSentence(texts, field, label)
  if (!Object.hasOwn(texts.problems, known)) return undefined
  const say = texts.problems[known as keyof FormTexts['problems']]
  if (typeof say === 'string') return say
  return say({
    ...{ label, type: field.type, step: field.integer ? undefined : inText(field.step) },
    ...{ minLength: inText(field.min_length), maxLength: inText(field.max_length) },
    ...{ minSelected: inText(field.min_selected), maxSelected: inText(field.max_selected) },
  })
}

export const sentence = (texts: FormTexts, field: Field, { code, message }: Problem): string =>
  knownSentence(texts, field, code) ?? `${field.label ?? field.key}: ${message}`

const inText = (bound: number | undefined): string | undefined => bound?.toString()
