/** Text and ids as callers give them: bounded, and on one line where a line is meant. */
import * as z from 'zod'
import { withTextForm } from './text-form.ts'

// C0, DEL, C1, and the two separators of Unicode.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Text without control characters and line breaks. */
export function line(max: number, description?: string) {
  const text = z.string().max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

/** Like `line`, and not empty. */
export function filledLine(max: number, description?: string) {
  const text = z.string().min(1).max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

/** What people call something: like `filledLine`, and blanks around it do not count. */
export function nameLine(max: number, description?: string) {
  const text = z.string().trim().min(1).max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

export const isOneLine = (text: string): boolean => !controls.test(text)

/** The name that destinations of one environment share. */
export const environmentName = filledLine(64)

/** An id in a path, a query or a body. What is none of ours finds nothing. */
export const id = z.string().min(1).max(64)
export const idParams = z.strictObject({ id })

/** Of what takes nothing. */
export const noInput = z.strictObject({})

/** A list of ids; in a query they stand with commas between them. */
export const idList = (description: string) =>
  withTextForm(
    z.array(id).max(100).default([]).meta({ description }),
    z
      .string()
      .max(6500)
      .regex(/^\w+(?:,\w+)*$/, 'must be comma-separated ids')
      .optional()
      .transform((text) => text?.split(',') ?? [])
      .meta({ description }),
  )

/** Some of a few words; in a query they stand with commas between them. */
export function wordList<const W extends readonly [string, ...string[]]>(words: W, description: string) {
  const one = z.enum(words)
  return withTextForm(
    z.array(one).max(words.length).default([]).meta({ description }),
    z
      .string()
      .max(500)
      .optional()
      .transform((text) => (text === undefined || text === '' ? [] : text.split(',')))
      .pipe(z.array(one).max(words.length))
      .meta({ description: `Comma-separated. ${description} One of: ${words.join(', ')}.` }),
  )
}

/** For records of names that callers choose: what is too many is not looked at one by one, and nothing is left out in silence. */
export const fewFields =
  (max: number) =>
  (given: unknown, context: z.RefinementCtx): unknown => {
    if (typeof given !== 'object' || given === null) return given
    if (Object.hasOwn(given, '__proto__')) context.addIssue({ code: 'custom', path: ['__proto__'], message: 'cannot be a name' })
    if (Object.keys(given).length <= max) return given
    context.addIssue({ code: 'custom', message: `at most ${max} fields` })
    return z.NEVER
  }

/** A field in which null says the same as leaving it out. */
export const nullAsAbsent = <Z extends z.ZodType>(field: Z) =>
  field
    .nullable()
    .optional()
    .transform((value) => value ?? undefined)

/** A move to another project. */
export const moveBody = z.strictObject({ project_id: id })

/**
 * For checks of a whole body that say what is missing: they run beside faults of single fields, so that all is reported at once. Their
 * functions must bear fields of any sort.
 */
export const besideFaults = { when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null }

/** Of an endpoint, when it is created or its secret is rotated. */
export const hmacSecret = z.string().meta({
  description:
    'Shown only once. The whole text, including `whsec_`, is the key of `X-Service-Signature`; for Standard Webhooks it is a secret in their form, `whsec_` followed by base64.',
})
