/** JSON Schemas for the OpenAPI document: schemas with an id go to `components/schemas`, everything else stays in place. */
import assert from 'node:assert'
import * as z from 'zod'

export type Json = Readonly<Record<string, unknown>>

/** Collects named schemas while the document is written. */
export class SchemaCollection {
  readonly #named = new Map<string, Json>()

  /** The JSON Schema (2020-12) of what a caller sends or gets. */
  toJsonSchema(schema: z.ZodType, direction: 'input' | 'output'): Json {
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any', override: openToNewFields })
    for (const [id, definition] of Object.entries($defs)) this.#add(id, definition)
    return hoisted(root)
  }

  /** All named schemas, by name. */
  named(): Json {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => a.localeCompare(b)))
  }

  /** One name, one shape: a schema that differs as input and as output needs two schemas with two ids. */
  #add(id: string, definition: Json): void {
    const shape = hoisted(definition)
    const before = this.#named.get(id)
    if (before) assert.deepEqual(shape, before, `the schema id ${id} stands for two shapes`)
    this.#named.set(id, shape)
  }
}

/** zod closes plain objects in answers; clients must be ready for fields that come later, so only strict ones stay closed. */
function openToNewFields(context: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { def } = context.zodSchema._zod
  if (def.type === 'object' && !def.catchall) delete context.jsonSchema.additionalProperties
  dropImpliedBounds(context.jsonSchema)
}

/** Every whole number lies between those that JavaScript counts exactly; as bounds of a field they are no information. */
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
