/** The API reference as chapters, one for each tag. It is generated from the OpenAPI document, so it cannot differ from the service. */
import { buildOpenApi } from '../../openapi/openapi.ts'
import { describedCore, describedService } from '../../rest/described-core.ts'
import { restOperations } from '../../rest/rest-operations.ts'
import { docsFolder, pathOf, type Entry, type Group } from './contents.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
}

interface Content {
  readonly schema?: Schema
  readonly example?: unknown
}

interface Described {
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>>
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

let read: Document | undefined

/** Cached, since it takes a second. */
const document = (): Document =>
  (read ??= buildOpenApi(restOperations, { ...describedService, core: describedCore }) as unknown as Document)

export const referenceFolder = 'reference'

/** Returns the group of the section, and the Markdown of each chapter by its file name. */
export function reference(): { readonly group: Group; readonly sources: ReadonlyMap<string, string> } {
  const sources = new Map<string, string>()
  const entries = document().tags.flatMap(({ name, description }): Entry[] => {
    const operations = operationsOf(name)
    if (operations.length === 0) return []
    const file = `${docsFolder}/${referenceFolder}/${name.replaceAll(' ', '-')}.md`
    const label = name.replace(/^(api|smtp|mcp|[a-z])/, (start) => start.toUpperCase())
    sources.set(file, [`# ${label}`, description, ...operations].join('\n\n'))
    return [{ path: pathOf(file), file, label, wayIn: undefined, about: description }]
  })
  return { group: { title: 'Every operation', entries }, sources }
}

const operationsOf = (tag: string): readonly string[] =>
  Object.entries(document().paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) =>
      described.tags[0] === tag ? [operationText(method.toUpperCase(), path, described)] : [],
    ),
  )

function operationText(method: string, path: string, described: Described): string {
  const { summary, description, parameters = [], requestBody, responses, security = [] } = described
  const scopes = [...new Set(security.flatMap((way) => Object.values(way).flat()))]
  const bodies = Object.entries(requestBody?.content ?? {})
  const answers = Object.entries(responses).filter(([status]) => status < '300')
  const fields = parameters.map(({ name, in: place, required, description: meaning, schema }) => ({
    ...{ name, isNeeded: required, schema },
    meaning: [place === 'query' ? '' : `In the ${place}.`, meaning ?? ''].join(' ').trim(),
  }))
  return [
    `## ${summary}`,
    `\`${method} ${path}\`${scopes.length > 0 ? `, scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}` : ''}`,
    description ?? '',
    table('Parameter', fields),
    ...bodies.map(([type, { schema }]) => bodyText('Body', type, schema)),
    ...bodies.flatMap(([, { example }]) => (example === undefined ? [] : [json('Request', example)])),
    ...answers.flatMap(([status, { content }]) =>
      Object.entries(content ?? {}).map(([type, { schema }]) => bodyText(`Answer ${status}`, type, schema)),
    ),
    ...answers.flatMap(([status, { content }]) =>
      Object.values(content ?? {}).flatMap(({ example }) => (example === undefined ? [] : [json(`${status}`, example)])),
    ),
    refusalsOf(responses),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function bodyText(title: string, type: string, schema: Schema | undefined): string {
  const resolved = resolve(schema ?? {})
  if (!resolved.properties) return type === 'application/json' ? '' : `${title}: \`${type}\`.`
  const { properties, required = [] } = resolved
  return table(
    title,
    Object.entries(properties).map(([name, field]) => ({
      ...{ name, schema: field, meaning: resolve(field).description ?? field.description ?? '' },
      isNeeded: title === 'Body' && required.includes(name),
    })),
  )
}

interface Field {
  readonly name: string
  readonly isNeeded: boolean
  readonly schema: Schema
  readonly meaning: string
}

function table(title: string, fields: readonly Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(({ name, isNeeded, schema, meaning }) => {
    const kind = typeOf(schema)
    return `| \`${name}\`${isNeeded ? ' **needed**' : ''} | ${[kind, cell(meaning)].filter((part) => part !== '').join('. ')} |`
  })
  return [`| ${title} | Meaning |`, '| --- | --- |', ...rows].join('\n')
}

/** Returns the text as one line for a table cell. */
const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')

const most = 12

function typeOf(given: Schema, depth = 0): string {
  const schema = resolve(given)
  const choices = (schema.anyOf ?? schema.oneOf)?.map((one) => typeOf(one, depth + 1))
  if (choices) return [...new Set(choices)].join(' or ')
  if (schema.const !== undefined) return `\`${cell(JSON.stringify(schema.const))}\``
  if (schema.enum) {
    const values = schema.enum.slice(0, most).map((one) => `\`${cell(String(one))}\``)
    return `${values.join(', ')}${schema.enum.length > most ? ' and others' : ''}`
  }
  const types = [schema.type ?? 'object'].flat()
  return types
    .map((type) => (type === 'array' && depth < 3 ? `array of ${typeOf(schema.items ?? {}, depth + 1)}` : (schema.format ?? type)))
    .join(' or ')
}

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : resolve(document().components.schemas[name] ?? {})
}

const json = (title: string, value: unknown): string => `\`\`\`json title="${title}"\n${JSON.stringify(value, null, 2)}\n\`\`\``

function refusalsOf(responses: Described['responses']): string {
  const codes = Object.values(responses).flatMap(({ description }) => /^Refused: ([\w, ]+)\./.exec(description)?.[1]?.split(', ') ?? [])
  if (codes.length === 0) return ''
  return `Refused with ${codes.map((code) => `[\`${code}\`](../errors/${code}.md)`).join(', ')}.`
}
