/** The GraphQL schema, created from the actions: one field of `Query` or `Mutation` for each action. */
import assert from 'node:assert'
import {
  GraphQLBoolean,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLNullableOutputType,
} from 'graphql'
import * as z from 'zod'
import { Refusal, invalid, type FieldProblem } from '#core/refusals.ts'
import type { Action } from '../actions/action.ts'
import { configsOf, InputTypes, toGraphqlPath, toWire, type InputField } from './input-types.ts'
import { camel } from '../wire/fields/codec.ts'
import { pascal } from './names.ts'
import { listShapeOf, OutputTypes } from './output-types.ts'
import { rootField, type Bound, type RelatedKind, type RequestContext, type RootField } from './root-fields.ts'
import { TypeNames } from './type-names.ts'

type Wire = Readonly<Record<string, unknown>>
type Field = GraphQLFieldConfig<undefined, RequestContext, Wire>

export interface Schema {
  readonly schema: GraphQLSchema
  /** The action of each field of `Query` and `Mutation`. */
  readonly fields: ReadonlyMap<string, RootField>
  /** The actions that read related resources by id. */
  readonly related: Readonly<Record<RelatedKind, Bound>>
}

/** Root fields are nullable: a refused field does not affect other fields of the request. */
export function buildGraphqlSchema(actions: readonly Bound[]): Schema {
  const roots = actions.map(rootField)
  const names = namesOf(roots)
  const related = { project: withField(actions, 'project'), destination: withField(actions, 'destination') }
  const outputs: OutputTypes = new OutputTypes(names, (kind) => outputs.resultType(related[kind].output))
  const inputs = new InputTypes(names)
  const fieldsOf = (wanted: 'query' | 'mutation') =>
    Object.fromEntries(
      roots
        .filter(({ action: { graphql } }) => graphql.root === wanted)
        .map((root) => [root.action.graphql.field, field(root, inputs, root.output && outputs.resultType(root.output))]),
    )
  const fields = new Map(roots.map((root) => [root.action.graphql.field, root]))
  assert(fields.size === roots.length, 'two actions have the same field')
  const type = (name: string, of: 'query' | 'mutation') => new GraphQLObjectType({ name, fields: fieldsOf(of) })
  // a test validates the schema, which takes some time
  const schema = new GraphQLSchema({ query: type('Query', 'query'), mutation: type('Mutation', 'mutation'), assumeValid: true })
  return { schema, fields, related }
}

function withField(actions: readonly Bound[], field: string): Bound & { readonly output: z.ZodType } {
  const found = actions.find(({ graphql }) => graphql.field === field)
  assert(found?.output, `no action has the field ${field}`)
  return { ...found, output: found.output }
}

function namesOf(roots: readonly RootField[]): TypeNames {
  const names = new TypeNames()
  for (const { action, args, input, output } of roots) {
    const list = output && listShapeOf(output)
    const named = pascal(action.graphql.field)
    if (list) for (const schema of [list.item, ...Object.values(list.more)]) names.add(schema, named, 'output')
    else if (output) names.add(output, `${named}Result`, 'output')
    for (const [name, schema] of Object.entries(args)) names.add(schema, named + pascal(name), 'input')
    for (const [name, schema] of Object.entries(input?.shape ?? {})) names.add(schema, named + pascal(name), 'input')
  }
  return names
}

function field(
  { action, args, input, output: schema }: RootField,
  inputs: InputTypes,
  output: GraphQLNullableOutputType | undefined,
): Field {
  const own = inputs.fieldsOf(args, pascal(action.graphql.field))
  const inside = input && inputs.fieldsOf(input.shape, input.name)
  const isWhole = schema !== undefined && listShapeOf(schema)?.isPaged === false
  const all = inside && input ? [...own, inputField(inputs, input.name, inside, action)] : own
  return {
    type: output ?? GraphQLBoolean,
    description: describe(action, all),
    args: configsOf(all),
    async resolve(_source, given, context) {
      const { input: nested, ...rest } = given
      const wire = inside ? { ...toWire(own, rest), ...toWire(inside, (nested ?? {}) as Wire) } : toWire(own, given)
      try {
        const result = await context.run(action, wire)
        if (isWhole) return (result as Wire)['data']
        return output ? result : true
      } catch (error) {
        throw inNamesOf(error, own, inside)
      }
    },
  }
}

/** The argument is optional if REST accepts a request without a body. */
function inputField(inputs: InputTypes, name: string, fields: readonly InputField[], { input, http }: Action<never>): InputField {
  const object = inputs.object(name, fields)
  const isNeeded = !(input instanceof z.ZodPrefault) && http?.emptyBody === undefined
  const config: GraphQLInputFieldConfig = { type: isNeeded ? new GraphQLNonNull(object) : object }
  return { name: 'input', wire: 'input', config, inner: fields }
}

function describe({ summary, description, scope }: Action<never>, fields: readonly InputField[]): string {
  const ownNames = new Map(fields.flatMap((one) => [one, ...(one.inner ?? [])]).map(({ wire, name }) => [wire, name]))
  const text = description?.replaceAll(/`(\w+)`/g, (quoted, wire: string) => {
    const name = ownNames.get(wire)
    return name === undefined ? quoted : `\`${name}\``
  })
  return [`${summary}. Requires the scope \`${scope}\`.`, ...(text === undefined ? [] : [text])].join('\n\n')
}

/** Renames the field at the beginning of a refusal: `project_id: no project has this id`. */
function withOwnName(refusal: Refusal, own: readonly InputField[], inside: readonly InputField[] | undefined): Refusal {
  const [, wire = '', rest = ''] = /^([a-z]\w*): (.*)$/s.exec(refusal.message) ?? []
  const field = [...own, ...(inside ?? [])].find(({ name }) => name === camel(wire))
  if (!field) return refusal
  const path = own.includes(field) ? field.name : `input.${field.name}`
  const { code, nextAction, retryAfterSeconds, details } = refusal
  return new Refusal(code, `${path}: ${rest}`, {
    nextAction,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(details && { details }),
  })
}

/** Renames the fields in errors to their names in GraphQL. */
function inNamesOf(error: unknown, own: readonly InputField[], inside: readonly InputField[] | undefined): unknown {
  if (!(error instanceof Refusal)) return error
  if (error.code !== 'validation_failed') return withOwnName(error, own, inside)
  const problems = error.details?.['fields'] as readonly FieldProblem[] | undefined
  if (!Array.isArray(problems)) return error
  const renamed = problems.map(({ path, message }: FieldProblem) => {
    const isOwn = own.some(({ wire }) => path === wire || path.startsWith(`${wire}.`) || path.startsWith(`${wire}[`))
    if (isOwn || !inside) return { path: toGraphqlPath(own, path), message }
    return { path: `input.${toGraphqlPath(inside, path)}`, message }
  })
  const { nextAction, details } = error
  return new Refusal('validation_failed', invalid(renamed).message, { nextAction, details: { ...details, fields: renamed } })
}
