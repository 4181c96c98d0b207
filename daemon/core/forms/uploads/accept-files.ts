/** Decides which uploaded files a form accepts, and returns the problems of the others. */
import { Refusal } from '../../refusals.ts'
import type { AnswerProblem } from '../definition/answers.ts'
import { definitionLimits, type Field } from '../definition/definition.ts'
import type { Evaluation } from '../definition/evaluate.ts'
import { tooLargeProblem, type Upload } from './uploads.ts'

interface Sent {
  readonly fields: readonly Field[]
  readonly uploads: readonly Upload[]
  readonly evaluation: Evaluation
  /** The plan has storage for files. */
  readonly takesFiles: boolean
}

type Problems = Readonly<Record<string, readonly AnswerProblem[]>>

/**
 * Returns the problems of all answers and files. Ignores files of unseen fields. Throws `file_uploads_unavailable` if the form accepts no
 * files, and `file_too_large` above the general limit.
 */
export function problemsWithFiles({ fields, uploads, evaluation, takesFiles }: Sent): Problems {
  const own = new Map(fields.flatMap((field) => (field.type === 'file_upload' ? [[field.key, field]] : [])))
  const isMissed = !takesFiles && [...evaluation.required].some((key) => own.has(key))
  if (isMissed || (uploads.length > 0 && (!takesFiles || own.size === 0)))
    throw new Refusal('file_uploads_unavailable', 'This form accepts no files. Send it without files.')
  const problems = new Map(Object.entries(evaluation.problems)) // a map, because visitors choose the names of uploads
  let isTooLarge = false
  for (const upload of uploads) {
    const { key, size } = upload
    const field = own.get(key)
    if (field && !evaluation.visible.has(key)) continue
    const problem = field ? (upload.problem ?? problemIn(field, upload)) : unexpected
    if (problem) problems.set(key, [...(problems.get(key) ?? []), problem])
    isTooLarge ||= size > definitionLimits.fileBytes
  }
  if (isTooLarge) {
    const details = { fields: Object.fromEntries(problems), max_bytes: definitionLimits.fileBytes }
    throw new Refusal('file_too_large', 'A file may have at most 10 MiB; send a smaller one.', { details })
  }
  return Object.fromEntries(problems)
}

const unexpected: AnswerProblem = { code: 'unexpected_file', message: 'The form has no file field with this name.' }

function problemIn({ accept, max_bytes: maxBytes = definitionLimits.fileBytes }: Field, { kind, size }: Upload): AnswerProblem | undefined {
  if (kind !== undefined && accept && !accept.includes(kind)) {
    const names = accept.map((name) => name.toUpperCase()).join(', ')
    return { code: 'file_type_not_allowed', message: `Choose a file of the type ${names}.` }
  }
  return size > maxBytes ? tooLargeProblem(maxBytes) : undefined
}
