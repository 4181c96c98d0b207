/** Custom scalars of the schema, and the types of plain values. */
import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  Kind,
  valueFromASTUntyped,
} from 'graphql'
import * as z from 'zod'
import { isIdName } from './names.ts'

export const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  description: 'A time in RFC 3339 format; responses are in UTC with milliseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  coerceOutputValue: (value) => value as string,
  coerceInputValue: asText,
  coerceInputLiteral: (node) => asText(node.kind === Kind.STRING ? node.value : undefined),
})

export const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value, with the names of REST.',
  coerceOutputValue: (value) => value,
  coerceInputValue: (value) => value,
  coerceInputLiteral: (node) => valueFromASTUntyped(node),
})

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new GraphQLError('DateTime must be text, such as "2026-11-23T08:00:00Z".')
}

/** Returns the type of a field other than an object, a list or an enum. */
export function scalarOf(schema: z.ZodType, field: string): GraphQLScalarType {
  if (schema instanceof z.ZodISODateTime) return DateTime
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return isIdName(field) ? GraphQLID : GraphQLString
  if (schema instanceof z.ZodNumber) return schema.format === null ? GraphQLFloat : GraphQLInt
  if (schema instanceof z.ZodBoolean) return GraphQLBoolean
  if (schema instanceof z.ZodEnum) return GraphQLString
  if (schema instanceof z.ZodLiteral) return literalType([...schema.values][0])
  return Json
}

function literalType(value: unknown): GraphQLScalarType {
  if (typeof value === 'string') return GraphQLString
  if (typeof value === 'boolean') return GraphQLBoolean
  return typeof value === 'number' ? GraphQLInt : Json
}
