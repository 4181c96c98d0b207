/** Names of the schema: fields in camelCase, types by their path. */
import * as z from 'zod'
import { camel } from '../wire/fields/codec.ts'

/** Converts `per_ip_hour` to `PerIpHour`. */
export const pascal = (name: string): string => camel(`_${name}`)

/** Returns the singular: `recipients` gives `Recipient`, `entries` gives `Entry`. */
export const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<=[^su])s$/, '')

/** Whether a field is an id; ids are opaque. */
export const isIdName = (name: string): boolean => /(?:^|_)ids?$/.test(name)

/** Whether a value can be an enum value in GraphQL; other values remain text. */
export const isEnumValue = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z]\w*$/.test(value)

/** Fields whose shape depends on another field, such as the provider of a destination; their contents keep the names of REST. */
const shapeless = new Set(['credentials'])
export const isShapeless = (name: string): boolean => shapeless.has(name)

/** Returns the id of a schema in the OpenAPI document. */
export const schemaId = (schema: z.ZodType): string | undefined => schema.meta()?.id

/** A schema without its wrappers for optional values and for conversions. */
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
