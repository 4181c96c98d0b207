/** Creates result types from the output schemas of actions. */
import {
  GraphQLID,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLBoolean,
  GraphQLString,
  type GraphQLFieldConfig,
  type GraphQLNullableOutputType,
} from 'graphql'
import * as z from 'zod'
import { camel } from '../wire/fields/codec.ts'
import { bare, isShapeless } from './names.ts'
import type { RelatedKind, RequestContext } from './root-fields.ts'
import { DateTime, Json, scalarOf } from './scalars.ts'
import type { TypeNames } from './type-names.ts'
import { giveWay } from '#core/event-loop.ts'

type Shape = Readonly<Record<string, z.ZodType>>
type Wire = Readonly<Record<string, unknown>>
type Field = GraphQLFieldConfig<Wire, RequestContext>

/** A page of a list in REST: `{data, next_cursor}`. */
export interface ListShape {
  readonly item: z.ZodType
  readonly isPaged: boolean
  /** Further fields. */
  readonly more: Shape
}

/** Returns undefined for schemas other than lists. */
export function listShapeOf(schema: z.ZodType): ListShape | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined
  const { data, next_cursor: cursor, ...more } = schema.shape as Shape
  return data instanceof z.ZodArray ? { item: data.element as z.ZodType, isPaged: cursor !== undefined, more } : undefined
}

const pageInfo = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    endCursor: { type: GraphQLString, description: 'The `after` of the next page; null on the last page.' },
    hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
  },
})

export class OutputTypes {
  readonly #names: TypeNames
  readonly #objects = new Map<string, GraphQLObjectType<Wire, RequestContext>>()
  readonly #projectOwned: GraphQLInterfaceType
  readonly #related: (kind: RelatedKind) => GraphQLNullableOutputType

  /** `related` returns the types of relations. */
  constructor(names: TypeNames, related: (kind: RelatedKind) => GraphQLNullableOutputType) {
    this.#names = names
    this.#related = related
    const owned = (type: GraphQLNullableOutputType) => ({ type: nonNull(type) })
    this.#projectOwned = new GraphQLInterfaceType({
      name: 'ProjectOwned',
      description: 'A resource that belongs to exactly one project.',
      fields: () => ({
        id: owned(GraphQLID),
        projectId: owned(GraphQLID),
        project: { type: related('project') },
        createdAt: owned(DateTime),
      }),
    })
  }

  /** Returns the type of a result; a list becomes a connection. */
  resultType(schema: z.ZodType): GraphQLNullableOutputType {
    const list = listShapeOf(schema)
    if (!list) return this.#typeOf(schema, '').type
    const item = this.#typeOf(list.item, '')
    const items = new GraphQLList(nonNull(item.type))
    if (!list.isPaged) return items
    const nodes: Field = { type: nonNull(items), resolve: ({ data }) => inTurns(data as readonly Wire[]) }
    const name = `${nameOf(item.type)}Connection`
    return this.#object(name, undefined, () => ({
      nodes,
      pageInfo: {
        type: nonNull(pageInfo),
        resolve: ({ next_cursor: endCursor }) => ({ endCursor, hasNextPage: endCursor !== null }),
      },
      ...this.#fields(list.more),
    }))
  }

  #typeOf(
    given: z.ZodType,
    field: string,
  ): { readonly type: GraphQLNullableOutputType; readonly isNullable: boolean; readonly description?: string } {
    const { schema, isNullable, description } = bare(given, 'output')
    return { type: this.#bareType(schema, field), isNullable, ...(description !== undefined && { description }) }
  }

  #bareType(schema: z.ZodType, field: string): GraphQLNullableOutputType {
    if (isShapeless(field)) return Json
    if (schema instanceof z.ZodArray) {
      const { type, isNullable } = this.#typeOf(schema.element as z.ZodType, field)
      return new GraphQLList(isNullable ? type : nonNull(type))
    }
    if (schema instanceof z.ZodEnum) return this.#names.enumOf(schema) ?? GraphQLString
    if (!(schema instanceof z.ZodObject)) return scalarOf(schema, field)
    return this.#object(this.#names.of(schema), schema.meta()?.description, () => this.#objectFields(schema.shape), isOwned(schema.shape))
  }

  #object(
    name: string,
    description: string | undefined,
    fields: () => Record<string, Field>,
    isProjectOwned = false,
  ): GraphQLNullableOutputType {
    const known = this.#objects.get(name)
    if (known) return known
    const made = new GraphQLObjectType<Wire, RequestContext>({
      name,
      ...(description !== undefined && { description }),
      ...(isProjectOwned && { interfaces: () => [this.#projectOwned] }),
      fields,
    })
    this.#objects.set(name, made)
    return made
  }

  #objectFields(shape: Shape): Record<string, Field> {
    const relations = Object.keys(shape).flatMap((wire): [string, Field][] => {
      const [, name = '', kind = ''] = /^((?:\w+_)?(project|destination))_id$/.exec(wire) ?? []
      if (kind === '' || name in shape) return []
      const related = kind as RelatedKind
      const description = `The ${related} with this id, read once in a request; null if the key has no access to it.`
      const resolve: Field['resolve'] = ({ [wire]: id }, _given, context) =>
        typeof id === 'string' ? context.related[related].load(id) : null
      return [[camel(name), { type: this.#related(related), description, resolve }]]
    })
    return { ...this.#fields(shape), ...Object.fromEntries(relations) }
  }

  #fields(shape: Shape): Record<string, Field> {
    return Object.fromEntries(
      Object.entries(shape).map(([wire, schema]): [string, Field] => {
        const { type, isNullable, description } = this.#typeOf(schema, wire)
        return [
          camel(wire),
          {
            type: isNullable ? type : nonNull(type),
            ...(description !== undefined && { description }),
            resolve: (source) => source[wire],
          },
        ]
      }),
    )
  }
}

/** Maximum number of list entries written without a pause. */
const maxEntriesAtOnce = 20

/** Pauses between the pieces of a long list, so that other requests can run. */
function inTurns(entries: readonly Wire[]): readonly (Wire | Promise<Wire>)[] {
  let turn: Promise<unknown> = Promise.resolve()
  return entries.map((entry, index) => {
    if (index < maxEntriesAtOnce) return entry
    if (index % maxEntriesAtOnce === 0) turn = turn.then(giveWay)
    return turn.then(() => entry)
  })
}

const nonNull = <T extends GraphQLNullableOutputType>(type: T): GraphQLNonNull<T> => new GraphQLNonNull(type)
const nameOf = (type: GraphQLNullableOutputType): string => ('name' in type ? type.name : 'Unnamed')
const isOwned = (shape: Shape): boolean =>
  ['id', 'project_id', 'created_at'].every((name) => shape[name] && !bare(shape[name], 'output').isNullable)
