/** Draft of a template: its parts, comparison with the saved version, and storage in the browser until it is saved. */
import type { Template, TemplateVersion } from '../wire/api.d.ts'

export interface Draft {
  readonly subject: string
  readonly html: string
  readonly text: string
  /** JSON as typed. Empty for no schema. */
  readonly schema: string
}

type Content = Pick<Template | TemplateVersion, 'subject_tmpl' | 'html_tmpl' | 'text_tmpl' | 'schema_json'>

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)

export const draftOf = ({ subject_tmpl: subject, html_tmpl: html, text_tmpl: text, schema_json: schema }: Content): Draft => ({
  subject,
  html: html ?? '',
  text: text ?? '',
  schema: schema === null ? '' : pretty(schema),
})

export const isSame = (a: Draft, b: Draft): boolean => pretty(a) === pretty(b)

/** Returns the request body. `schema_json` stays text, so that the service reports invalid JSON. */
export const contentOf = ({ subject, html, text, schema }: Draft) => ({
  subject_tmpl: subject,
  html_tmpl: html === '' ? null : html,
  text_tmpl: text === '' ? null : text,
  schema_json: schema.trim() === '' ? null : schema,
})

export type Parsed = { readonly isJson: true; readonly value: Record<string, unknown> } | { readonly isJson: false }

/** Parses a JSON object. Empty text is an empty object. */
export function parseObject(json: string): Parsed {
  if (json.trim() === '') return { isJson: true, value: {} }
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { isJson: true, value: value as Record<string, unknown> }
      : { isJson: false }
  } catch {
    return { isJson: false }
  }
}

interface SchemaPart {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: SchemaPart
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

const maxDepth = 8

function sampleOf(name: string, schema: SchemaPart, depth: number): unknown {
  if ('default' in schema) return schema.default
  if (schema.enum) return schema.enum[0]
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.find((one) => one !== 'null')
  if (schema.properties && depth < maxDepth)
    return Object.fromEntries(Object.entries(schema.properties).map(([key, part]) => [key, sampleOf(key, part, depth + 1)]))
  if (type === 'array') return schema.items && depth < maxDepth ? [1, 2].map(() => sampleOf(name, schema.items ?? {}, depth + 1)) : []
  if (type === 'integer') return 17
  if (type === 'number') return 17.5
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'object') return {}
  return /url|link/i.test(name) ? 'https://example.com/' : name.charAt(0).toUpperCase() + name.slice(1)
}

/** Returns sample data for a preview, from the schema or as text for each used variable. */
export function sampleFor(schemaText: string, used: readonly string[]): string {
  const schema = parseObject(schemaText)
  const properties = schema.isJson ? (schema.value as SchemaPart).properties : undefined
  const named = properties ?? Object.fromEntries(used.map((name) => [name, {}]))
  const entries = Object.entries(named)
  return entries.length === 0 ? '' : pretty(Object.fromEntries(entries.map(([name, part]) => [name, sampleOf(name, part, 0)])))
}

/** Returns the schema with declarations for all used variables. */
export function schemaWith(schemaText: string, used: readonly string[]): string {
  const parsed = parseObject(schemaText)
  if (!parsed.isJson) return schemaText
  const { properties = {}, required = [], ...rest } = parsed.value as { properties?: Record<string, unknown>; required?: string[] }
  const missing = used.filter((name) => !Object.hasOwn(properties, name))
  const added = Object.fromEntries(missing.map((name) => [name, { type: 'string' }]))
  return pretty({ type: 'object', ...rest, required: [...required, ...missing], properties: { ...properties, ...added } })
}

const stored = (where: () => Storage, key: string): string | null => {
  try {
    return where().getItem(key)
  } catch {
    return null
  }
}

const keep = (where: () => Storage, key: string, value: string | undefined): void => {
  try {
    if (value === undefined) where().removeItem(key)
    else where().setItem(key, value)
  } catch {
    // private windows may forbid storage: the draft then lasts until the screen closes
  }
}

const session = (): Storage => sessionStorage
const local = (): Storage => localStorage

/** Returns the unsaved draft of this browser tab. */
export function keptDraft(id: string): Draft | undefined {
  const text = stored(session, `draft ${id}`)
  return text === null ? undefined : (JSON.parse(text) as Draft)
}

export const keepDraft = (id: string, draft: Draft | undefined): void => keep(session, `draft ${id}`, draft && JSON.stringify(draft))

export const keptSample = (id: string): string => stored(local, `sample ${id}`) ?? ''

export const keepSample = (id: string, sample: string): void => keep(local, `sample ${id}`, sample === '' ? undefined : sample)
