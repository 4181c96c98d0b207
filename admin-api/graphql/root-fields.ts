/** Maps actions to fields of `Query` and `Mutation`: their arguments and inputs. */
import assert from 'node:assert'
import type DataLoader from 'dataloader'
import * as z from 'zod'
import type { Action } from '../actions/action.ts'
import type { GraphqlBinding } from '../actions/graphql-binding.ts'
import { pathParameters, type Operation } from '../operation/operation.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { mergedShape } from './input-types.ts'
import { bare, pascal } from './names.ts'

type Shape = Readonly<Record<string, z.ZodType>>

/** An action with a GraphQL field. */
export type Bound = Action<RestCore> & { readonly graphql: GraphqlBinding }

type Wire = Readonly<Record<string, unknown>>

/** Kinds of related resources that an id refers to. */
export type RelatedKind = 'project' | 'destination'

/** State shared by the resolvers of one request. */
export interface RequestContext {
  /** Runs an action as its caller: scope, flag, input, core. Throws `Refusal`. */
  run(action: Bound, input: Wire): Promise<unknown>
  /** Loads related resources by kind and id, each once; null if the caller has no access. */
  readonly related: Readonly<Record<RelatedKind, DataLoader<string, Wire | null>>>
}

export interface RootField {
  readonly action: Bound
  /** Fields of the input that are arguments. */
  readonly args: Shape
  /** Fields inside the argument `input`, and the name of its type. */
  readonly input: { readonly name: string; readonly shape: Shape } | undefined
  /** The schema of the result; undefined if there is no result. */
  readonly output: z.ZodType | undefined
}

export const boundActions = (table: readonly (Action<RestCore> | Operation<RestCore>)[]): readonly Bound[] =>
  table.flatMap((entry) => ('run' in entry && isBound(entry) ? [entry] : []))

const isBound = (action: Action<RestCore>): action is Bound => action.graphql !== undefined

/** Maps an action to its field. Queries and deletions have only arguments; other mutations have ids as arguments and an input. */
export function rootField(action: Bound): RootField {
  const { id, graphql, http } = action
  const shape = needing(without(shapeOf(action), graphql.without), graphql.required)
  const named = http ? pathParameters(http.path) : Object.keys(shape)
  const areArguments = graphql.root === 'query' || !http || http.method === 'DELETE'
  const isArgument = ([name]: readonly [string, z.ZodType]) => areArguments || named.includes(name)
  const fields = Object.entries(shape)
  const rest = fields.filter((field) => !isArgument(field))
  assert(!rest.some(([name]) => name === 'input'), `${id}: input is reserved as the name of the argument`)
  return {
    action,
    args: Object.fromEntries(fields.filter(isArgument)),
    input: rest.length === 0 ? undefined : { name: `${pascal(graphql.field)}Input`, shape: Object.fromEntries(rest) },
    output: action.output && firstOf(action.output),
  }
}

function shapeOf({ id, input }: Bound): Shape {
  const { schema } = bare(input, 'input')
  if (schema instanceof z.ZodUnion) return mergedShape(schema.options as readonly z.ZodObject[])
  assert(schema instanceof z.ZodObject, `${id}: the input must be an object`)
  return schema.shape
}

function without(shape: Shape, names: readonly string[] = []): Shape {
  for (const name of names) assert(name in shape, `there is no field ${name}`)
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)))
}

function needing(shape: Shape, names: readonly string[] = []): Shape {
  const needed = names.map((name): [string, z.ZodType] => [name, bare(shape[name] ?? z.never(), 'input').schema])
  return { ...shape, ...Object.fromEntries(needed) }
}

/** Takes the first alternative; the others are for send-only keys, which cannot use GraphQL. */
const firstOf = (schema: z.ZodType): z.ZodType => (schema instanceof z.ZodUnion ? (schema.options[0] as z.ZodType) : schema)

/** Whether its result contains a secret that is shown once, by the name of the result or by a field that only mutations fill. */
export const showsSecret = ({ action, output }: RootField): boolean =>
  (output?.meta()?.id?.startsWith('Minted') ?? false) ||
  (action.graphql.root === 'mutation' && output instanceof z.ZodObject && 'webhook_secret' in output.shape)
