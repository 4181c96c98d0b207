/** Creates arguments and inputs from the input schemas of actions, and converts their values to the names of REST. */
import {
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLInputFieldConfig,
  type GraphQLNullableInputType,
} from 'graphql'
import * as z from 'zod'
import { camel } from '../wire/fields/codec.ts'
import { bare, isEnumValue, isShapeless, pascal, singular } from './names.ts'
import { Json, scalarOf } from './scalars.ts'
import type { TypeNames } from './type-names.ts'

type Shape = Readonly<Record<string, z.ZodType>>
type Values = Readonly<Record<string, unknown>>

/** A field of an input, with both names. */
export interface InputField {
  readonly name: string
  readonly wire: string
  readonly config: GraphQLInputFieldConfig
  /** The inner fields, if their names differ too. */
  readonly inner: readonly InputField[] | undefined
}

/** Names of paging fields in GraphQL. */
const pagingNames: Readonly<Record<string, string>> = { limit: 'first', cursor: 'after', project: 'projectId' }

export class InputTypes {
  readonly #names: TypeNames
  readonly #objects = new Map<string, GraphQLInputObjectType>()

  constructor(names: TypeNames) {
    this.#names = names
  }

  /** Creates the fields of an input; `path` is its name. */
  fieldsOf(shape: Shape, path: string): readonly InputField[] {
    return Object.entries(shape).map(([wire, schema]) => this.#field(wire, schema, path))
  }

  /** Creates an input object type. */
  object(name: string, fields: readonly InputField[], description?: string): GraphQLInputObjectType {
    const known = this.#objects.get(name)
    if (known) return known
    const made = new GraphQLInputObjectType({ name, ...(description !== undefined && { description }), fields: configsOf(fields) })
    this.#objects.set(name, made)
    return made
  }

  #field(wire: string, given: z.ZodType, path: string): InputField {
    const { schema, isNullable, description } = bare(given, 'input')
    const name = pagingNames[wire] ?? camel(wire)
    const { type, inner } = this.#typeOf(schema, wire === 'project' ? 'project_id' : wire, path)
    const value = wire === 'limit' && given instanceof z.ZodDefault ? given.def.defaultValue : undefined
    const config = {
      type: isNullable || given._zod.optin === 'optional' ? type : new GraphQLNonNull(type),
      ...(description !== undefined && { description }),
      ...(value !== undefined && { default: { value } }),
    }
    return { name, wire, config, inner }
  }

  #typeOf(
    schema: z.ZodType,
    wire: string,
    path: string,
  ): { readonly type: GraphQLNullableInputType; readonly inner?: readonly InputField[] | undefined } {
    if (isShapeless(wire)) return { type: Json }
    if (schema instanceof z.ZodArray) {
      const element = bare(schema.element as z.ZodType, 'input')
      const { type, inner } = this.#typeOf(element.schema, singular(wire), path)
      return { type: new GraphQLList(element.isNullable ? type : new GraphQLNonNull(type)), inner }
    }
    if (schema instanceof z.ZodEnum) return { type: this.#names.enumOf(schema) ?? GraphQLString }
    if (!(schema instanceof z.ZodObject)) return { type: scalarOf(schema, wire) }
    const name = `${path.replace(/Input$/, '')}${pascal(wire)}Input`
    const inner = this.fieldsOf(schema.shape, name)
    return { type: this.object(name, inner, schema.meta()?.description), inner }
  }
}

export const configsOf = (fields: readonly InputField[]): Record<string, GraphQLInputFieldConfig> =>
  Object.fromEntries(fields.map(({ name, config }) => [name, config]))

/** Converts values to the names of REST. */
export function toWire(fields: readonly InputField[], given: Values): Record<string, unknown> {
  const present = fields.filter(({ name }) => given[name] !== undefined)
  return Object.fromEntries(present.map(({ name, wire, inner }) => [wire, inner ? innerToWire(inner, given[name]) : given[name]]))
}

function innerToWire(inner: readonly InputField[], value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => innerToWire(inner, one))
  return typeof value === 'object' && value !== null ? toWire(inner, value as Values) : value
}

/** Converts the path of a problem to the names of GraphQL: `from_domains[0]` to `fromDomains[0]`. */
export function toGraphqlPath(fields: readonly InputField[], path: string): string {
  const [, wire = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(path) ?? []
  const field = fields.find((one) => one.wire === wire)
  if (!field) return path
  const [, index = '', dot = '', inside = ''] = /^((?:\[\d+\])*)(\.?)(.*)$/s.exec(rest) ?? []
  return field.name + index + dot + (field.inner && inside !== '' ? toGraphqlPath(field.inner, inside) : inside)
}

/**
 * Merges the alternatives of a union to one input: fields required in all alternatives are required, and fields that differ between them
 * are JSON.
 */
export function mergedShape(options: readonly z.ZodObject[]): Shape {
  const shapes = options.map(({ shape }) => shape as Shape)
  const names = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))]
  return Object.fromEntries(
    names.map((name): [string, z.ZodType] => {
      const schemas = shapes.flatMap((shape) => shape[name] ?? [])
      const [first] = schemas
      const merged = schemas.every((one) => one === first) && first ? first : choiceOf(schemas)
      return [name, schemas.length === shapes.length ? merged : merged.optional()]
    }),
  )
}

/** Combines text literals to an enum. */
function choiceOf(schemas: readonly z.ZodType[]): z.ZodType {
  const literals = schemas.flatMap((one) => (one instanceof z.ZodLiteral ? [...one.values] : [undefined]))
  return literals.every(isEnumValue) ? z.enum(literals) : z.union(schemas)
}
