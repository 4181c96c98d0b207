/** Fields other than text have a second schema for queries, where every value is text: `limit=50` is the number 50. */
import type * as z from 'zod'

const textForms = new WeakMap<z.core.$ZodType, z.ZodType>()

/**
 * Registers the query schema of a field and returns the field. Both schemas produce the same value. Add descriptions and defaults to both
 * before the call.
 */
export function withTextForm<Z extends z.ZodType, T extends z.ZodType<z.output<Z>, string | undefined>>(field: Z, form: T): Z {
  textForms.set(field, form)
  return field
}

/** Returns the schema that reads the field from a query. */
export const textFormOf = (field: z.ZodType): z.ZodType => textForms.get(field) ?? field
