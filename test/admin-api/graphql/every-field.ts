/** A document for every field of `Query` and `Mutation`, with all arguments and selections, and variables from the REST request. */
import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'
import { builtSchema } from '../../../admin-api/graphql/engine.ts'
import type { Bound } from '../../../admin-api/graphql/root-fields.ts'
import { camel } from '../../../admin-api/wire/fields/codec.ts'
import type { Installation } from '../rest/fixture/one-of-everything.ts'
import type { Request } from '../rest/fixture/requests.ts'

type Json = Readonly<Record<string, unknown>>

export interface WalkedField {
  readonly name: string
  readonly action: Bound
  readonly document: string
  variables(request: Request): Json
}

/** All fields, in the order of the table. */
export const everyField: readonly WalkedField[] = [...builtSchema.fields].map(([name, { action }]) => {
  const { root } = action.graphql
  const field = fieldOf(builtSchema.schema, root, name)
  const args = field.args.map((arg) => `$${arg.name}: ${String(arg.type)}`)
  const given = field.args.map((arg) => `${arg.name}: $${arg.name}`)
  const [declared, passed] = args.length === 0 ? ['', ''] : [`(${args.join(', ')})`, `(${given.join(', ')})`]
  const document = `${root} Walk${declared} { ${name}${passed} ${selectionOf(field.type, 5)} }`
  return { name, action, document, variables: (request) => variablesOf(field, request) }
})

function fieldOf(schema: GraphQLSchema, root: 'query' | 'mutation', name: string): GraphQLField<unknown, unknown> {
  const field = (root === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields()[name]
  if (!field) throw new Error(`no field ${name}`)
  return field
}

/** Selects all fields down to the given level, except linked projects and destinations. */
function selectionOf(type: GraphQLOutputType, levels: number): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).filter((field) => !/^(?:project|.*[dD]estination)$/.test(field.name))
  const chosen = fields.filter((field) => isLeafType(getNamedType(field.type)) || levels > 0)
  return `{ ${chosen.map((field) => `${field.name} ${selectionOf(field.type, levels - 1)}`).join(' ')} }`
}

function variablesOf(field: GraphQLField<unknown, unknown>, { params, query, body }: Request): Json {
  const wire: Json = { ...params, ...Object.fromEntries(new URLSearchParams(query)), ...(body as object | undefined) }
  return Object.fromEntries(
    field.args.flatMap((arg): [string, unknown][] => {
      if (arg.name === 'input') return [[arg.name, converted(arg.type, wire)]]
      const name = Object.keys(wire).find((key) => graphqlName(key) === arg.name)
      return name === undefined ? [] : [[arg.name, converted(arg.type, wire[name])]]
    }),
  )
}

const graphqlName = (wire: string): string => ({ limit: 'first', cursor: 'after', project: 'projectId' })[wire] ?? camel(wire)

function converted(type: GraphQLInputType, value: unknown): unknown {
  const bare = getNullableType(type)
  if (isListType(bare)) return Array.isArray(value) ? value.map((one) => converted(bare.ofType, one)) : value
  if (isInputObjectType(bare) && typeof value === 'object' && value !== null) {
    const fields = bare.getFields()
    const known = Object.entries(value).flatMap(([key, one]) => {
      const field = fields[graphqlName(key)]
      return field ? [[field.name, converted(field.type, one)]] : []
    })
    return Object.fromEntries(known) as unknown
  }
  if (typeof value !== 'string') return value
  if (String(bare) === 'Int') return Number(value)
  return String(bare) === 'Boolean' ? value === 'true' : value
}

/** Requests that exist only in GraphQL, or under another name here. */
const ownRequests = ({ made }: Installation): Readonly<Record<string, Request>> => ({
  moveResource: { params: { resource_type: 'webhook_endpoint', resource_id: made.webhook, project_id: made.target }, outsider: 'refused' },
  setNoRoutePolicy: { body: { no_route_policy: 'capture' }, outsider: 'own' },
})

/** Each field with its request, in an order that the owner can run completely. */
export function walkOf(installation: Installation): readonly (WalkedField & { readonly request: Request })[] {
  const requests = { ...installation.requests, ...ownRequests(installation) }
  const names = ['moveResource', ...Object.keys(requests)]
  return everyField
    .toSorted((a, b) => names.indexOf(a.action.id) - names.indexOf(b.action.id))
    .map((field) => {
      const request = requests[field.action.id]
      if (!request) throw new Error(`${field.action.id} needs a request`)
      return { ...field, request }
    })
}
