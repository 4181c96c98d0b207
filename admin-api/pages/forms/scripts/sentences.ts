/** What is wrong with an answer, as a sentence that says what to do. */
import type { Field } from '#core/forms/definition/definition.ts'
import type { FormWords } from '../words/words.ts'

export interface Problem {
  readonly code: string
  readonly message: string
}

const chosen = new Set<Field['type']>(['select', 'radio', 'checkboxes', 'rating', 'scale'])

/** The owner's own words first, then ours in the language of the form; undefined where there are only those of the check. */
export function knownSentence(words: FormWords, field: Field, code: string): string | undefined {
  const isMissing = code === 'required' || code === 'must_accept' || code === 'file_missing'
  if (isMissing && field.required_message !== undefined) return field.required_message
  const known = code === 'required' && chosen.has(field.type) ? 'unanswered' : code
  return words.problems[known]?.(field, field.label ?? field.key)
}

export const sentence = (words: FormWords, field: Field, { code, message }: Problem): string =>
  knownSentence(words, field, code) ?? `${field.label ?? field.key}: ${message}`
