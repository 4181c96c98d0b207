/** Functions that create documented settings. Each takes a description and a default, and provides the limit as text and as code. */
import { z } from 'zod'

/** Properties of a setting in addition to its type. */
export interface Documentation {
  /** Purpose of the setting, in one or two sentences. */
  readonly description: string
  /** Allowed values; completes the sentence "… must be". */
  readonly limit: string
  /** Never printed. */
  readonly secret?: boolean
  readonly [key: string]: unknown
}

const maxText = 4096
const maxList = 64

/** A whole number from `min` to `max`. */
export function whole(description: string, min: number, max: number, fallback: number) {
  const limit = `a whole number from ${min} to ${max}`
  return z.int({ error: limit }).min(min, limit).max(max, limit).default(fallback).meta({ description, limit })
}

/** A number from `min` to `max`. */
export function fraction(description: string, min: number, max: number, fallback: number) {
  const limit = `a number from ${min} to ${max}`
  return z.number({ error: limit }).min(min, limit).max(max, limit).default(fallback).meta({ description, limit })
}

/** A word from a fixed list. */
export function oneOf<const Words extends readonly [string, ...string[]]>(description: string, words: Words, fallback: Words[number]) {
  const limit = `one of ${words.join(', ')}`
  return z
    .enum(words, { error: limit })
    .default(fallback as z.core.util.NoUndefined<Words[number]>)
    .meta({ description, limit })
}

/** A list of whole numbers, each from `min` to `max`. */
export function wholes(description: string, unit: string, min: number, max: number, fallback: readonly number[]) {
  const limit = `a list of 1 to ${maxList} whole numbers of ${unit}, each from ${min} to ${max}`
  const item = z.int({ error: limit }).min(min, limit).max(max, limit)
  return z
    .array(item, { error: limit })
    .min(1, limit)
    .max(maxList, limit)
    .default([...fallback])
    .meta({ description, limit })
}

/** A value with a text form. */
function codec<Value>(limit: string, parse: (text: string) => Value | undefined, format: (value: Value) => string) {
  return z.codec(z.string({ error: limit }).max(maxText, limit), z.custom<Value>(), {
    decode(text, context) {
      const value = parse(text)
      if (value !== undefined) return value
      context.issues.push({ code: 'custom', message: limit, input: text })
      return z.NEVER
    },
    encode: format,
  })
}

/** Conversion of a value from and to text. */
export interface TextForm<Value> {
  readonly parse: (text: string) => Value | undefined
  readonly format: (value: Value) => string
}

/** A value with a text form; `fallback` is text. */
export function written<Value>(documentation: Documentation, form: TextForm<Value>, fallback: string) {
  return codec(documentation.limit, form.parse, form.format).prefault(fallback).meta(documentation)
}

/** A value with a text form, or null without the setting. */
export function optionalWritten<Value>(documentation: Documentation, form: TextForm<Value>) {
  return codec(documentation.limit, form.parse, form.format).nullable().default(null).meta(documentation)
}

/** A list of values with a text form; `fallback` is a list of texts. */
export function listOf<Value>(documentation: Documentation, form: TextForm<Value>, fallback: readonly string[]) {
  const { limit } = documentation
  return z
    .array(codec(limit, form.parse, form.format), { error: limit })
    .max(maxList, limit)
    .prefault([...fallback])
    .meta(documentation)
}

/** An object that refuses unknown settings. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape, limit = `an object with ${Object.keys(shape).join(', ')}`) {
  return z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? limit : undefined) })
}
