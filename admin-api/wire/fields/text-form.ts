/** Fields other than text have a second schema for paths and queries, where every value is text: `limit=50` is the number 50. */
import * as z from 'zod'

const textForms = new WeakMap<z.core.$ZodType, z.ZodType>()
const ownFields = new WeakMap<z.core.$ZodType, z.ZodType>()

/**
 * Registers the query schema of a field and returns the field. Both schemas produce the same value. A list needs its description and
 * default in both; numbers and booleans are described by the field.
 */
export function withTextForm<Z extends z.ZodType, T extends z.ZodType<z.output<Z>, string | undefined>>(field: Z, form: T): Z {
  textForms.set(field, form)
  ownFields.set(form, field)
  return field
}

/** Returns the schema that reads the field from a path or query. */
export const textFormOf = (field: z.ZodType): z.ZodType => textForms.get(field) ?? field

/** Returns the number or boolean that a text form reads, for descriptions. Returns lists and other forms unchanged. */
export function describedField(form: z.ZodType): z.ZodType {
  const field = ownFields.get(form)
  return field && isScalar(field) ? field : form
}

function isScalar(field: z.core.$ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault) return isScalar(field.def.innerType)
  return field instanceof z.ZodNumber || field instanceof z.ZodBoolean
}

/** Registers the digits of `pattern` as the text form of a whole number. The number is checked by the field. */
export const withNumberForm = <Z extends z.ZodType<number | undefined, number | undefined>>(field: Z, pattern: RegExp, fault: string): Z =>
  withTextForm(field, z.string().regex(pattern, fault).transform(Number).optional().pipe(field))

/** Registers `true` and `false` as the text form of a field. */
export const withBooleanForm = <Z extends z.ZodType<boolean | undefined, boolean | undefined>>(field: Z): Z =>
  withTextForm(
    field,
    z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional()
      .pipe(field),
  )
