/**
 * Generates the API types of the dashboard from the OpenAPI document: `node admin-api/dashboard/wire-types.ts`. `schemas.d.ts` has a type
 * for each schema, and `api.d.ts` the type `paths` in the shape of `openapi-typescript`. `facts.ts` has id, scope and agent tool of each
 * operation, and `read-only.ts` the routes that change no list although their method is not GET. A test fails if the files are out of date.
 */
import { writeFileSync } from 'node:fs'
import { systemOperations, type SystemParts } from '../http/system-operations.ts'
import { buildOpenApi } from '../openapi/openapi.ts'
import { operatorOperations, type OperatorCore } from '../operator/operator-operations.ts'
import { describedCore, describedService } from '../rest/described-core.ts'
import type { Action } from '../actions/action.ts'
import type { Operation } from '../operation/operation.ts'
import { restOperations, restTable } from '../rest/rest-operations.ts'

/** Literal entries, because knip recognizes generated files only by literal names. */
const files = {
  'api.d.ts': new URL('client/wire/api.d.ts', import.meta.url),
  'schemas.d.ts': new URL('client/wire/schemas.d.ts', import.meta.url),
  'facts.ts': new URL('client/wire/facts.ts', import.meta.url),
  'read-only.ts': new URL('client/wire/read-only.ts', import.meta.url),
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
  const service = { ...describedService, core: describedCore as OperatorCore }
  const system = systemOperations({ ...service, ...describedProcess }, operations)
  return buildOpenApi([...operations, ...system], service) as unknown as Document
}

const describedProcess: Pick<SystemParts<OperatorCore>, 'health' | 'metrics' | 'isDraining'> = {
  health: { ready: () => [] },
  metrics: { contentType: '', render: async () => '' },
  isDraining: () => false,
}

/** Operations without authentication that the dashboard still calls: the public view of a trace, and the document for the reference. */
const shownToo: ReadonlySet<string> = new Set(['getSharedTrace', 'getOpenApi'])

const isCalled = (way: Readonly<Record<string, readonly string[]>>): boolean =>
  way['bearer']?.[0] !== undefined || 'operator' in way || 'session' in way

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
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described, route: routeOf(method, path) })),
  )
  const called = operations.filter(
    ({ described: { security, operationId } }) => security.some((way) => isCalled(way)) || shownToo.has(operationId),
  )
  const types = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const byPath = [...Map.groupBy(called, ({ path }) => path)].map(([path, methods]) => {
    return `  '${path}': { ${methods.map(({ method, described }) => `${method}: ${operationType(described)}`).join('; ')} }`
  })
  const words = new Set(byPath.flatMap((line) => line.match(/\b[A-Z]\w*/g) ?? []))
  const used = Object.keys(components.schemas).filter((name) => words.has(name))
  const facts = operations.map(({ route, described }) => {
    const tool = tools.get(described.operationId)
    const known = [described.operationId, scopeOf(described), ...(tool === undefined ? [] : [tool])]
    return `  '${route}': [${known.map((fact) => `'${fact}'`).join(', ')}],`
  })
  const readOnly = called.filter(({ method, described }) => method !== 'get' && scopeOf(described) === 'api:read')
  return {
    'api.d.ts': [
      generated,
      `import type { ${used.join(', ')} } from './schemas.d.ts'`,
      '',
      "export type * from './schemas.d.ts'",
      '',
      'export interface paths {',
      ...byPath,
      '}',
      '',
    ].join('\n'),
    'schemas.d.ts': [generated, ...types, ''].join('\n'),
    'facts.ts': [
      generated,
      '',
      '/** Id, scope and agent tool of each operation, by route. The tool has its arguments: `name argument=field …`. */',
      'export const facts: Readonly<Record<string, readonly [id: string, scope: string, tool?: string]>> = {',
      ...facts,
      '}',
      '',
    ].join('\n'),
    'read-only.ts': [
      generated,
      '',
      '/** Routes that change no list although their method is not GET: they need only the scope `api:read`. */',
      'export const readOnly: ReadonlySet<string> = new Set([',
      ...readOnly.map(({ route }) => `  '${route}',`),
      '])',
      '',
    ].join('\n'),
  }
}

const generated = '/** Written by `admin-api/dashboard/wire-types.ts` from the OpenAPI document. Do not edit. */'

/** The name of an operation in the dashboard: its path, preceded by the method if it is not GET. */
const routeOf = (method: string, path: string): string => (method === 'get' ? path : `${method.toUpperCase()} ${path}`)

const scopeOf = ({ security }: Described): string =>
  security.some((way) => 'operator' in way) ? 'operator' : (security.find((way) => way['bearer'])?.['bearer']?.[0] ?? '')

function operationType({ parameters = [], requestBody, responses }: Described): string {
  const fieldsIn = (where: string): string => {
    const fields = parameters.filter((one) => one.in === where)
    if (fields.length === 0) return `${where}?: never`
    const types = fields.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`)
    return `${where}${fields.some(({ required }) => required) ? '' : '?'}: { ${types.join('; ')} }`
  }
  const body = requestBody
    ? `requestBody${requestBody.required ? '' : '?'}: { ${contentType(requestBody.content)} }`
    : 'requestBody?: never'
  const good = Object.entries(responses).filter(([status]) => /^[23]/.test(status)) // includes redirects, because fetch follows them
  const answers = good.map(([status, { content }]) => `${status}: { ${content ? contentType(content) : 'content?: never'} }`)
  return `{ parameters: { ${fieldsIn('query')}; ${fieldsIn('path')} }; ${body}; responses: { ${answers.join('; ')} } }`
}

const contentType = (content: Record<string, { readonly schema: Schema }>): string =>
  `content: { ${Object.entries(content)
    .map(([type, { schema }]) => `'${type}': ${typeOf(schema)}`)
    .join('; ')} }`

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
  for (const name of ['api.d.ts', 'schemas.d.ts', 'facts.ts', 'read-only.ts'] as const) writeFileSync(files[name], texts[name])
}
