/** JSON Schemas of tools (2020-12). They are short, since a model reads every word of them. */
import * as z from 'zod'
import { dropImpliedBounds } from '../../openapi/openapi-schemas.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the schema of the arguments. Other properties are not allowed. */
export const inputSchema = (schema: z.ZodType): JsonObject => objectSchema(schema, 'input')

/**
 * Returns the schema of the result that `tool.ts` returns. Other properties are allowed, since later versions may add fields. It has only
 * names, types and choices: the list of tools is part of every conversation, and the guides explain the fields.
 */
export function outputSchema(schema: z.ZodType): JsonObject {
  const { required: always, ...whole } = objectSchema(schema, 'output')
  const made: JsonObject = { ...(namesAndTypes(whole) as JsonObject), ...(always !== undefined && { required: always }) }
  const { next_cursor: cursor, ...properties } = (made['properties'] ?? {}) as JsonObject
  if (cursor === undefined) return made
  const required = (made['required'] as readonly string[] | undefined)?.map((name) => (name === 'next_cursor' ? 'has_more' : name))
  return { ...made, properties: { ...properties, has_more: hasMore }, ...(required && { required }) }
}

const hasMore = { type: 'boolean' }

const leftOut = new Set([
  ...['description', 'required', 'default', 'examples', 'format', 'pattern', 'propertyNames'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
])

/** Removes keywords that results omit, and `additionalProperties` if it has its default. Names of properties are not keywords. */
function namesAndTypes(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => namesAndTypes(one))
  if (typeof value !== 'object' || value === null) return value
  const isKept = (name: string, one: unknown): boolean => !leftOut.has(name) && (name !== 'additionalProperties' || one !== true)
  const kept = Object.entries(value).filter(([name, one]) => areNames || isKept(name, one))
  return Object.fromEntries(kept.map(([name, one]) => [name, namesAndTypes(one, !areNames && name === 'properties')]))
}

function objectSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: shorten })
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    const { $ref: reference, ...own } = value as Readonly<Record<string, unknown>>
    const fields = Object.fromEntries(Object.entries(own).map(([name, one]) => [name, inline(one)]))
    if (typeof reference !== 'string') return portable(fields)
    return { ...(inline(($defs as JsonObject)[reference.replace('#/$defs/', '')]) as JsonObject), ...fields }
  }
  const whole = inline(root) as JsonObject
  return whole['type'] === 'object' ? whole : { type: 'object', ...whole }
}

/** Rewrites a schema for clients that allow only one type for a value. */
function portable({ type, ...fields }: JsonObject): JsonObject {
  const open = fields['additionalProperties']
  const rest =
    typeof open === 'object' && open !== null && Object.keys(open).length === 0 ? { ...fields, additionalProperties: true } : fields
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
  const { title, description, default: usual, examples, ...checks } = rest
  const annotations = Object.entries({ title, description, default: usual, examples }).filter(([, one]) => one !== undefined)
  const branch = (one: unknown): JsonObject => (one === 'null' ? { type: 'null' } : { type: one, ...checks })
  return { ...Object.fromEntries(annotations), anyOf: type.map(branch) }
}

/** Largest `maxLength` that a tool schema states. Larger limits are omitted, since callers rarely reach them. */
const maxLengthShown = 10_000

/** Omits a pattern if the schema has a format, and that names are strings. Allows additional fields in results. */
function shorten({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodTypes
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  const { def } = zodSchema._zod
  if (def.type === 'object' && !def.catchall) delete jsonSchema.additionalProperties
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  dropImpliedBounds(jsonSchema)
  if ((jsonSchema.maxLength ?? 0) > maxLengthShown) delete jsonSchema.maxLength
  delete jsonSchema['id']
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames
}
