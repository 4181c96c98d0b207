/** JSON Schemas of tools (2020-12), as short as they can be: every word of them is read by a model. */
import * as z from 'zod'
import { dropImpliedBounds } from '../../openapi/openapi-schemas.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Of the arguments: closed to others. */
export const inputSchema = (schema: z.ZodType): JsonObject => objectSchema(schema, 'input')

/**
 * Of the result, as `tool.ts` gives it: open to fields that come later. It has names, types and choices alone: the list of tools is in
 * the context of a model as long as it works, and the guides say what a field means.
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
  ...['description', 'required', 'default', 'examples', 'format', 'pattern'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
])

/** A schema without what is left out of results. The names of properties are no words of a schema. */
function namesAndTypes(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => namesAndTypes(one))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => areNames || !leftOut.has(name))
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

/** Said as all clients understand it, those that know one type for each value too. */
function portable({ type, ...fields }: JsonObject): JsonObject {
  const open = fields['additionalProperties']
  const rest =
    typeof open === 'object' && open !== null && Object.keys(open).length === 0 ? { ...fields, additionalProperties: true } : fields
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
  const { title, description, default: usual, examples, ...checks } = rest
  const words = Object.entries({ title, description, default: usual, examples }).filter(([, one]) => one !== undefined)
  const branch = (one: unknown): JsonObject => (one === 'null' ? { type: 'null' } : { type: one, ...checks })
  return { ...Object.fromEntries(words), anyOf: type.map(branch) }
}

/** Longer texts than these are never what a caller must be kept from by a schema. */
const maxLengthShown = 10_000

/** Formats speak for their patterns, and results may get new fields. */
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
}
