/** Names of the schema: fields in camelCase, types by where they stand. */
import * as z from 'zod'
import { camel } from '../wire/fields/codec.ts'

/** `per_ip_hour` is `PerIpHour`. */
export const pascal = (name: string): string => camel(`_${name}`)

/** What one of several is called: `recipients` holds a `Recipient`, `entries` an `Entry`. */
export const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<=[^su])s$/, '')

/** Ids are opaque, whatever they are made of. */
export const isIdName = (name: string): boolean => /(?:^|_)ids?$/.test(name)

/** Values that GraphQL takes as names of an enum; others stay text. */
export const isEnumValue = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z]\w*$/.test(value)

/** Fields whose shape depends on another field, such as the provider of a destination; their names are those of REST. */
const shapeless = new Set(['credentials'])
export const isShapeless = (name: string): boolean => shapeless.has(name)

/** The id that the OpenAPI document has for a schema. */
export const schemaId = (schema: z.ZodType): string | undefined => schema.meta()?.id

/** A schema without what only says that a value may be missing, and without the conversion that follows a check. */
export interface Bare {
  readonly schema: z.ZodType
  readonly isNullable: boolean
  readonly description: string | undefined
}

export function bare(given: z.ZodType, io: 'input' | 'output'): Bare {
  let [schema, isNullable, description]: [z.ZodType, boolean, string | undefined] = [given, false, given.meta()?.description]
  for (;;) {
    const inner = innerOf(schema, io)
    if (!inner) return { schema, isNullable, description }
    isNullable ||= inner.isNullable
    schema = inner.schema
    description ??= schema.meta()?.description
  }
}

function innerOf(schema: z.ZodType, io: 'input' | 'output'): { readonly schema: z.ZodType; readonly isNullable: boolean } | undefined {
  const inner = (type: z.core.$ZodType, isNullable: boolean) => ({ schema: type as z.ZodType, isNullable })
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return inner(schema.def.innerType, true)
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return inner(schema.def.innerType, io === 'input')
  if (!(schema instanceof z.ZodPipe)) return undefined
  const isConversion = schema.def.in instanceof z.ZodTransform
  return inner(io === 'output' || isConversion ? schema.def.out : schema.def.in, false)
}
