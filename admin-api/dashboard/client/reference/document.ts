/** Prepares the OpenAPI document for the API reference: operations by tag, resolved schemas, and examples. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Content {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>
  readonly content?: Readonly<Record<string, Content>>
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Response>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface OpenApi {
  readonly info: { readonly description: string; readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** An operation with method and path. */
export interface Entry extends Described {
  readonly method: string
  readonly path: string
  /** Empty for an operation without authentication. */
  readonly scope: string
  /** Whether the operation accepts a browser session or needs no authentication. */
  readonly isOpenToSessions: boolean
}

export interface Subject {
  readonly name: string
  readonly description: string
  readonly entries: readonly Entry[]
}

/** Returns a title such as `API keys` for a lowercase tag. */
export const subjectTitle = (name: string): string => name.replace(/^(?:api|smtp)\b|^\w/, (first) => first.toUpperCase())

/** Returns operations by tag, in the order of the document. */
export function subjectsOf({ tags, paths }: OpenApi): readonly Subject[] {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => entryOf(method.toUpperCase(), path, described)),
  )
  return tags.map(({ name, description = '' }) => ({ name, description, entries: entries.filter(({ tags: [first] }) => first === name) }))
}

function entryOf(method: string, path: string, described: Described): Entry {
  const { security } = described
  const isOfSessions = security.length > 0 && security.every((way) => 'session' in way)
  const own = security.some((way) => 'operator' in way) ? 'operator' : isOfSessions ? 'session' : ''
  const scope = security.find((way) => way['bearer'])?.['bearer']?.[0] ?? own
  return { ...described, method, path, scope, isOpenToSessions: security.length === 0 || security.some((way) => 'session' in way) }
}

const matches = ({ operationId, summary, path, method }: Entry, words: readonly string[]): boolean => {
  const text = `${method} ${path} ${operationId} ${summary}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Returns the operations that contain all words of `text`. Omits empty subjects. */
export function found(subjects: readonly Subject[], text: string): readonly Subject[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return subjects.flatMap((subject) => {
    const entries = words.length === 0 ? subject.entries : subject.entries.filter((entry) => matches(entry, words))
    return entries.length === 0 ? [] : [{ ...subject, entries }]
  })
}

export type Schemas = OpenApi['components']['schemas']

/** Resolves a `$ref`. Properties next to the reference have priority. */
export function resolved(schema: Schema, schemas: Schemas): Schema {
  const { $ref: reference, ...own } = schema
  if (reference === undefined) return schema
  return { ...schemas[nameOf(reference)], ...own }
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

const isJson = (type: string): boolean => type.startsWith('application/json')

/** Returns the JSON content of a request or response body. Undefined for other media types. */
export const jsonOf = (content: Readonly<Record<string, Content>> = {}): Content | undefined =>
  Object.entries(content).find(([type]) => isJson(type))?.[1]

const maxDepth = 6

/** Returns an example value of a schema: only required fields, or all fields if `isWhole` is set. */
export function exampleOf(given: Schema, schemas: Schemas, isWhole: boolean, depth = 0): unknown {
  const schema = resolved(given, schemas)
  const { anyOf, oneOf, enum: values, properties, items } = schema
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (values) return values[0]
  const choice = (anyOf ?? oneOf)?.find(({ type }) => type !== 'null')
  if (choice) return exampleOf(choice, schemas, isWhole, depth)
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.find((one) => one !== 'null')
  if (properties) {
    if (depth >= maxDepth) return {}
    const names = Object.keys(properties).filter((name) => isWhole || schema.required?.includes(name))
    return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, schemas, isWhole, depth + 1)]))
  }
  if (type === 'array') return items && depth < maxDepth ? [exampleOf(items, schemas, isWhole, depth + 1)] : []
  if (type === 'object') return {}
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  return type === 'null' ? null : textExample(schema)
}

const textExample = ({ format }: Schema): string =>
  format === 'date-time'
    ? '2026-11-23T09:00:00Z'
    : format === 'email'
      ? 'ada@example.org'
      : format === 'uri'
        ? 'https://example.org'
        : 'string'

/** Returns the example of the request body, or one with the required fields. */
export function bodyExample({ requestBody }: Entry, schemas: Schemas): unknown {
  const content = jsonOf(requestBody?.content)
  return content && (content.example ?? exampleOf(content.schema, schemas, false))
}

export const routeOf = ({ method, path }: Entry): string => (method === 'GET' ? path : `${method} ${path}`)
