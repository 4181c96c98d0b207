/**
 * What types are called. Schemas with an id have it as their name; one inside another is called after the way to it (`TraceRecipient`), and
 * of several ways after the shortest. Enums are called by the same rule.
 */
import { GraphQLEnumType } from 'graphql'
import * as z from 'zod'
import { bare, isEnumValue, isShapeless, pascal, schemaId, singular } from './names.ts'

/** What makes two schemas one type: what it is made of, whatever words there are about it. */
const shapeOf = (schema: z.ZodObject): unknown => schema.def
const valuesOf = (schema: z.ZodEnum): readonly unknown[] => Object.values(schema.def.entries)
const enumKey = (schema: z.ZodEnum): string => valuesOf(schema).join('|')

export class TypeNames {
  readonly #names = new Map<unknown, string>()
  /** Those with an id, which keep it. */
  readonly #named = new Set<unknown>()
  readonly #enums = new Map<string, GraphQLEnumType>()

  /** Finds names for the schema and all that is in it. `path` is the name that it has without an id. */
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

  /** Undefined where a value is no name of GraphQL. */
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
