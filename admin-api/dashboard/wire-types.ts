/**
 * Generates the API types of the dashboard from the OpenAPI document: `node admin-api/dashboard/wire-types.ts`. It writes a type for each
 * schema. For each operation it writes method, path, scope, input and output types, and the equivalent agent tool. A test fails if the
 * files are out of date.
 */
import { writeFileSync } from 'node:fs'
import { buildOpenApi } from '../openapi/openapi.ts'
import { operatorOperations, type OperatorCore } from '../operator/operator-operations.ts'
import { describedCore, describedService } from '../rest/described-core.ts'
import type { Action } from '../actions/action.ts'
import type { Operation } from '../operation/operation.ts'
import { restOperations, restTable } from '../rest/rest-operations.ts'

/** Literal entries, because knip recognizes generated files only by literal names. */
const files = {
  'types.ts': new URL('client/wire/types.ts', import.meta.url),
  'operations.ts': new URL('client/wire/operations.ts', import.meta.url),
} as const

interface Schema {
  readonly [word: string]: unknown
}

interface Described {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean; readonly schema: Schema }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { readonly schema: Schema }> }
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>
  readonly security: readonly Record<string, readonly string[]>[]
}

interface Document {
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

const describedApi = (): Document => {
  const operations = [...restOperations, ...operatorOperations]
  return buildOpenApi(operations, { ...describedService, core: describedCore as OperatorCore }) as unknown as Document
}

/** Operations without authentication that the dashboard still calls. `getSharedTrace` previews the public view of a trace. */
const shownToo: ReadonlySet<string> = new Set(['getSharedTrace'])

const isCalled = (way: Readonly<Record<string, readonly string[]>>): boolean => way['bearer']?.[0] !== undefined || 'operator' in way

/** Agent tools that match a REST operation but have a different input, as `tool argument=field`. */
const likeTools: Readonly<Record<string, string>> = {
  getTrace: 'email_trace_lookup trace_id=trace_id',
  listTraces: `email_traces_search ${['status', 'outcome', 'to', 'from', 'destination_id', 'bounce', 'q', 'since', 'until'].map((name) => `filter.${name}=${name}`).join(' ')}`,
  listSuppressions: 'email_suppression_list source=source project_id=project_id q=q limit=limit',
  listDestinationPresets: 'email_provider_list_presets',
  getInbox: 'virtual_inbox_get id_or_address=id',
  getInboxMessage: 'virtual_inbox_message_get id=message_id',
}

/** Returns the agent tool of each operation as `name argument=field …`, by operation id. */
function toolsById(): ReadonlyMap<string, string> {
  const isAction = (one: Action<never> | Operation<never>): one is Action<never> => 'run' in one
  const own = restTable.flatMap((one): [string, string][] => {
    if (!isAction(one) || !one.tool || !one.http) return []
    const { name, arguments: taken = Object.keys((one.input as { shape?: object }).shape ?? {}) } = one.tool
    const pairs: readonly (readonly [string, string])[] = Array.isArray(taken)
      ? (taken as string[]).map((field) => [field, field])
      : Object.entries(taken as Record<string, string>)
    return [[one.id, [name, ...pairs.map(([argument, field]) => `${argument}=${field}`)].join(' ')]]
  })
  return new Map([...Object.entries(likeTools), ...own])
}

/** Returns the generated files of `client/wire/` by name. */
export function wireTypes(): Readonly<Record<keyof typeof files, string>> {
  const { paths, components } = describedApi()
  const tools = toolsById()
  const names = Object.keys(components.schemas)
  const types = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security, operationId }]) => security.some((way) => isCalled(way)) || shownToo.has(operationId))
      .map(([method, described]) => callOf(method, path, described, tools.get(described.operationId))),
  )
  const words = new Set(calls.flatMap((call) => call.match(/\b[A-Z]\w*/g) ?? []))
  const used = names.filter((name) => words.has(name))
  const head = '/** Written by `admin-api/dashboard/wire-types.ts` from the OpenAPI document. Do not edit. */'
  const imports = ["import { operation } from './operation.ts'", `import type { ${used.join(', ')} } from './types.ts'`]
  return {
    'types.ts': [head, ...types, ''].join('\n'),
    'operations.ts': [head, ...imports, '', "export type * from './types.ts'", '', ...calls, ''].join('\n'),
  }
}

function callOf(
  method: string,
  path: string,
  { operationId, parameters = [], requestBody, responses, security }: Described,
  tool: string | undefined,
): string {
  const fieldsIn = (where: string): string | undefined => {
    const fields = parameters.filter((one) => one.in === where)
    if (fields.length === 0) return undefined
    return `{ ${fields.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`).join('; ')} }`
  }
  const body = requestBody?.content['application/json']?.schema
  const parts = [
    ['path', fieldsIn('path'), ''],
    ['query', fieldsIn('query'), '?'],
    ['body', body && typeOf(body), requestBody?.required ? '' : '?'],
  ].flatMap(([name, type, optional]) => (type === undefined ? [] : [`${name ?? ''}${optional ?? ''}: ${type}`]))
  const good = Object.entries(responses).filter(([status]) => /^[23]/.test(status)) // includes redirects, because fetch follows them
  const answers = new Set(good.map(([, { content }]) => (content ? answerType(content) : 'undefined')))
  const input = parts.length === 0 ? 'object' : `{ ${parts.join('; ')} }`
  const scope = security.some((way) => 'operator' in way) ? 'operator' : (security.find((way) => way['bearer'])?.['bearer']?.[0] ?? '')
  const facts = [operationId, method.toUpperCase(), path, scope, ...(tool === undefined ? [] : [tool])]
    .map((fact) => `'${fact}'`)
    .join(', ')
  return `export const ${operationId} = operation<${input}, ${[...answers].join(' | ')}>(${facts})`
}

const answerType = (content: Record<string, { readonly schema: Schema }>): string =>
  content['application/json'] ? typeOf(content['application/json'].schema) : 'Blob'

function typeOf(schema: Schema): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].slice('#/components/schemas/'.length)
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined
  if (choices) return `(${choices.map(typeOf).join(' | ')})`
  const { type } = schema
  if (Array.isArray(type)) return `(${type.map((one: string) => typeOf({ ...schema, type: one })).join(' | ')})`
  if (type === 'array') return `(${typeOf((schema['items'] ?? {}) as Schema)})[]`
  if (type === 'object' || schema['properties'] !== undefined) return objectType(schema)
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'string' || type === 'boolean' || type === 'null' ? type : 'unknown'
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const needed = new Set(required as readonly string[])
  const fields = Object.entries(properties as Record<string, Schema>).map(
    ([name, field]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${needed.has(name) ? '' : '?'}: ${typeOf(field)}`,
  )
  const isOpen = typeof additionalProperties === 'object' && additionalProperties !== null
  if (fields.length > 0) return `{ ${fields.join('; ')} }`
  return isOpen ? `Record<string, ${typeOf(additionalProperties as Schema)}>` : 'Record<string, unknown>'
}

if (import.meta.main) {
  const texts = wireTypes()
  for (const name of ['types.ts', 'operations.ts'] as const) writeFileSync(files[name], texts[name])
}
