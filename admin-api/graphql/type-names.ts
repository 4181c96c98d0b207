/**
 * Assigns names to types. A schema with an id is named by the id, an inner schema by its shortest path (`TraceRecipient`). Enums follow the
 * same rule.
 */
import { GraphQLEnumType } from 'graphql'
import * as z from 'zod'
import { bare, isEnumValue, isShapeless, pascal, schemaId, singular } from './names.ts'

/** Identifies schemas that are one type: their shape, regardless of descriptions. */
const shapeOf = (schema: z.ZodObject): unknown => schema.def
const valuesOf = (schema: z.ZodEnum): readonly unknown[] => Object.values(schema.def.entries)
const enumKey = (schema: z.ZodEnum): string => valuesOf(schema).join('|')

export class TypeNames {
  readonly #names = new Map<unknown, string>()
  /** Schemas named by their id. */
  readonly #named = new Set<unknown>()
  readonly #enums = new Map<string, GraphQLEnumType>()

  /** Assigns names to the schema and its inner schemas. `path` is its name without an id. */
  add(given: z.ZodType, path: string, io: 'input' | 'output'): void {
    const { schema } = bare(given, io)
    if (schema instanceof z.ZodArray) return this.add(schema.element as z.ZodType, path, io)
    const id = schemaId(given) ?? schemaId(schema)
    if (schema instanceof z.ZodEnum) this.#offer(enumKey(schema), path, id)
    if (!(schema instanceof z.ZodObject)) return
    const own = (io === 'output' && id) || path
    this.#offer(shapeOf(schema), own, id)
    for (const [name, field] of Object.entries(schema.shape)) {
      if (isShapeless(name)) continue
      const { schema: inner } = bare(field, io)
      this.add(field, own + pascal(inner instanceof z.ZodArray ? singular(name) : name), io)
    }
  }

  #offer(key: unknown, path: string, id: string | undefined): void {
    const before = this.#names.get(key)
    if (id !== undefined) this.#named.add(key)
    if (id === undefined && this.#named.has(key)) return
    if (id !== undefined || before === undefined || isBetter(path, before)) this.#names.set(key, id ?? path)
  }

  of(schema: z.ZodObject): string {
    return this.#names.get(shapeOf(schema)) ?? 'Unnamed'
  }

  /** Returns undefined if a value is not a valid GraphQL name. */
  enumOf(schema: z.ZodEnum): GraphQLEnumType | undefined {
    const key = enumKey(schema)
    const values = valuesOf(schema)
    const known = this.#enums.get(key)
    if (known || !values.every(isEnumValue)) return known
    const name = this.#names.get(key) ?? 'Unnamed'
    const made = new GraphQLEnumType({ name, values: Object.fromEntries(values.map((value) => [value, {}])) })
    this.#enums.set(key, made)
    return made
  }
}

const isBetter = (name: string, than: string): boolean => name.length < than.length || (name.length === than.length && name < than)
