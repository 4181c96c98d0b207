/** Text and ids in requests, with length limits and, for single-line fields, without line breaks. */
import * as z from 'zod'
import { withTextForm } from './text-form.ts'

// C0, DEL, C1, and the line and paragraph separators of Unicode.
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

/** A display name: like `filledLine`, with surrounding whitespace removed. */
export function nameLine(max: number, description?: string) {
  const text = z.string().trim().min(1).max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

export const isOneLine = (text: string): boolean => !controls.test(text)

/** The environment of a destination. Destinations with the same name form one environment. */
export const environmentName = filledLine(64)

/** An id in a path, a query or a body. The format is not checked: an unknown id is simply not found. */
export const id = z.string().min(1).max(64)
export const idParams = z.strictObject({ id })

/** Input of operations without fields. */
export const noInput = z.strictObject({})

/** A list of ids; comma-separated in a query. */
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

/** A subset of fixed words; comma-separated in a query. */
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

/**
 * Limits the number of fields in records with names that callers choose. Reports an error for a larger record without validating its
 * fields, and for `__proto__`.
 */
export const fewFields =
  (max: number) =>
  (given: unknown, context: z.RefinementCtx): unknown => {
    if (typeof given !== 'object' || given === null) return given
    if (Object.hasOwn(given, '__proto__')) context.addIssue({ code: 'custom', path: ['__proto__'], message: 'cannot be a name' })
    if (Object.keys(given).length <= max) return given
    context.addIssue({ code: 'custom', message: `at most ${max} fields` })
    return z.NEVER
  }

/** A field with null as a synonym of omission. */
export const nullAsAbsent = <Z extends z.ZodType>(field: Z) =>
  field
    .nullable()
    .optional()
    .transform((value) => value ?? undefined)

/** The body of a request that moves a resource to another project. */
export const moveBody = z.strictObject({ project_id: id })

/**
 * For checks of a whole body for missing fields: they run together with the checks of single fields, so that one response reports all
 * errors. Their functions must accept fields of any type.
 */
export const besideFaults = { when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null }

/** The secret of a webhook endpoint, returned when it is created or rotated. */
export const hmacSecret = z.string().meta({
  description:
    'Shown only once. The whole text, including `whsec_`, is the key of `X-Service-Signature`. For Standard Webhooks, it is a ' +
    'secret in their format: `whsec_` followed by base64.',
})
