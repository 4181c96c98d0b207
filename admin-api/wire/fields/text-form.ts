/** Fields that are no text have a second form for queries, where every value is text: `limit=50` is the number 50. */
import type * as z from 'zod'

const textForms = new WeakMap<z.core.$ZodType, z.ZodType>()

/** The field, with the form that it has in a query; both give the same value. Words and defaults are given before. */
export function withTextForm<Z extends z.ZodType, T extends z.ZodType<z.output<Z>, string | undefined>>(field: Z, form: T): Z {
  textForms.set(field, form)
  return field
}

/** How the field is read from a query. */
export const textFormOf = (field: z.ZodType): z.ZodType => textForms.get(field) ?? field
