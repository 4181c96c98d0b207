/**
 * What the dashboard knows of the wire, written from the OpenAPI document: `node admin-api/dashboard/wire-types.ts`. A type for each
 * schema, and for each operation its method, path and scope with the types of what it takes and gives. A test proves it current.
 */
import { writeFileSync } from 'node:fs'
import { buildOpenApi } from '../openapi/openapi.ts'
import { operatorOperations, type OperatorParts } from '../operator/operator-operations.ts'
import { describedCore } from '../rest/described-core.ts'
import { restOperations } from '../rest/rest-operations.ts'

const target = new URL('client/wire/operations.ts', import.meta.url)

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
  const operations = [...restOperations(describedCore), ...operatorOperations(describedCore, {} as OperatorParts)]
  return buildOpenApi(operations, { baseUrl: describedCore.baseUrl, version: '1' }) as unknown as Document
}

/** Needs no key; the dashboard shows what others see by it. */
const shownToo: ReadonlySet<string> = new Set(['getSharedTrace'])

const isCalled = (way: Readonly<Record<string, readonly string[]>>): boolean => way['bearer']?.[0] !== undefined || 'operator' in way

/** The text of `client/wire/operations.ts`. */
export function wireTypes(): string {
  const { paths, components } = describedApi()
  const types = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security, operationId }]) => security.some((way) => isCalled(way)) || shownToo.has(operationId))
      .map(([method, described]) => callOf(method, path, described)),
  )
  return [
    '/** Written by `admin-api/dashboard/wire-types.ts` from the OpenAPI document; not to be edited. */',
    "import { operation } from './operation.ts'",
    '',
    ...types,
    '',
    ...calls,
    '',
  ].join('\n')
}

function callOf(method: string, path: string, { operationId, parameters = [], requestBody, responses, security }: Described): string {
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
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const answers = new Set(good.map(([, { content }]) => (content ? answerType(content) : 'undefined')))
  const input = parts.length === 0 ? 'object' : `{ ${parts.join('; ')} }`
  const scope = security.some((way) => 'operator' in way) ? 'operator' : (security.find((way) => way['bearer'])?.['bearer']?.[0] ?? '')
  const facts = [operationId, method.toUpperCase(), path, scope].map((fact) => `'${fact}'`).join(', ')
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

if (import.meta.main) writeFileSync(target, wireTypes())
