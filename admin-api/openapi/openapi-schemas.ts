/** JSON Schemas for the OpenAPI document: schemas with an id move to `components/schemas`, others stay inline. */
import assert from 'node:assert'
import * as z from 'zod'

export type Json = Readonly<Record<string, unknown>>

/** Collects named schemas while the document is built. */
export class SchemaCollection {
  readonly #named = new Map<string, Json>()

  /** Returns the JSON Schema (2020-12) of a request or response. */
  toJsonSchema(schema: z.ZodType, direction: 'input' | 'output'): Json {
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any', override: openToNewFields })
    for (const [id, definition] of Object.entries($defs)) this.#add(id, definition)
    return hoisted(root)
  }

  /** Returns all named schemas, by name. */
  named(): Json {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => a.localeCompare(b)))
  }

  /** Adds a schema. Each name has one shape: a schema with different input and output needs two ids. */
  #add(id: string, definition: Json): void {
    const shape = hoisted(definition)
    const before = this.#named.get(id)
    if (before) assert.deepEqual(shape, before, `the schema id ${id} has two different shapes`)
    this.#named.set(id, shape)
  }
}

/** zod closes plain objects in responses. Only strict objects stay closed, since responses may get new fields. */
function openToNewFields(context: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { def } = context.zodSchema._zod
  if (def.type === 'object' && !def.catchall) delete context.jsonSchema.additionalProperties
  dropImpliedBounds(context.jsonSchema)
}

/** Removes the range of exact integers in JavaScript, which is no information about a field. */
export function dropImpliedBounds(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

const reference = /^#\/\$defs\//

function hoisted(definition: Json): Json {
  return JSON.parse(JSON.stringify(definition), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(reference, '#/components/schemas/') : value,
  ) as Json
}
