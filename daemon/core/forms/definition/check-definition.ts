/** Checks a whole definition and adds its defaults. No other check of a whole definition exists. */
import {
  checkProperties,
  Findings,
  integer,
  isObject,
  listOf,
  matching,
  nullable,
  object,
  oneOf,
  text,
  webAddress,
  type Check,
  type DefinitionProblem,
  type JsonObject,
} from './checks.ts'
import { checkCondition, checkLogic, placesOf } from './check-logic.ts'
import { contrastWarnings, type ContrastWarning } from './contrast.ts'
import {
  colorNames,
  defaultSettings,
  defaultTheme,
  defaultThankYou,
  definitionLimits,
  isReservedKey,
  type Definition,
  type Field,
  type Schema,
} from './definition.ts'
import { checkTogether, isFieldType, propertiesOf, valueKinds } from './field-properties.ts'
import { checkLayout, pagesOf } from './layout.ts'
import { checkTranslations, localePattern, textsOf } from './translations.ts'

export type { DefinitionProblem } from './checks.ts'

export interface DefinitionWarning {
  readonly path: string
  readonly code: string
  readonly message: string
}

export interface CheckedDefinition {
  /** The definition with defaults; undefined if it has errors. */
  readonly definition: Definition | undefined
  readonly errors: readonly DefinitionProblem[]
  /** Problems that do not prevent publishing. */
  readonly warnings: readonly (DefinitionWarning | ContrastWarning)[]
}

/** Checks any value; never throws. */
export function checkDefinition(given: unknown): CheckedDefinition {
  const found = new Findings()
  if (!isObject(given)) return refused([{ path: '', code: 'invalid_type', message: 'must be an object' }])
  if (new TextEncoder().encode(JSON.stringify(given)).length > definitionLimits.bytes)
    return refused([{ path: '', code: 'too_long', message: `must have at most ${definitionLimits.bytes} bytes as JSON` }])
  checkProperties(given, '', { properties, required: ['name', 'schema'] }, found)
  const schema = isObject(given['schema']) ? checkSchema(given['schema'], found) : undefined
  if (schema && found.list.length === 0) {
    const places = placesOf(schema)
    if (places.pages > definitionLimits.pages)
      found.report('schema.fields', 'too_many', `must make at most ${definitionLimits.pages} pages`)
    if (given['logic'] !== undefined) checkLogic(given['logic'], places, found)
    for (const [at, variant] of variantsOf(given).entries())
      checkCondition(variant['when'], `thank_you.variants[${at}].when`, places, found)
  }
  if (found.list.length > 0) return refused(found.list)
  const definition = whole(given as unknown as Partial<Definition> & Pick<Definition, 'name' | 'schema'>)
  return { definition, errors: [], warnings: [...contrastWarnings(definition.theme), ...oddities(definition)] }
}

const refused = (errors: readonly DefinitionProblem[]): CheckedDefinition => ({ definition: undefined, errors, warnings: [] })

const whole = (given: Partial<Definition> & Pick<Definition, 'name' | 'schema'>): Definition => ({
  name: given.name.trim(),
  locale: given.locale ?? 'en',
  translations: given.translations ?? {},
  schema: given.schema,
  theme: { ...defaultTheme, ...given.theme },
  logic: given.logic ?? { version: 1, rules: [] },
  thank_you: { ...defaultThankYou, ...given.thank_you },
  settings: { ...defaultSettings, ...given.settings },
})

const color = matching(/^#[0-9a-fA-F]{6}$/, 'a colour such as #1d4ed8')
const colors = object(Object.fromEntries(colorNames.map((name) => [name, color])))
const anything: Check = () => {}

const origin: Check = (value, path, found) => {
  const isOrigin = typeof value === 'string' && /^https?:\/\/[^/\\?#@\s*]+$/.test(value) && parseOrigin(value) === value
  const isSecure = isOrigin && (value.startsWith('https:') || /^http:\/\/localhost(?::\d+)?$/.test(value))
  if (!isSecure) found.report(path, 'invalid_url', 'must be an origin such as https://shop.example.ch, without a path')
}

function parseOrigin(value: string): string | undefined {
  try {
    return new URL(value).origin
  } catch {
    return undefined
  }
}

const time: Check = (value, path, found) => {
  const isTime = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(value)
  if (!isTime || Number.isNaN(Date.parse(value)))
    found.report(path, 'invalid_date', 'must be a time with its zone, such as 2026-12-24T18:00:00Z')
}

const theme = object({
  mode: oneOf('light', 'dark', 'auto'),
  colors,
  dark_colors: colors,
  radius: oneOf('none', 'sm', 'md', 'lg', 'full'),
  font: oneOf('system', 'humanist', 'serif', 'mono', 'rounded'),
  logo: nullable(object({ src: webAddress(['https:']), alt: text(200) }, ['src', 'alt'])),
})

const title = text(200, { min: 1 })
const prose = text(4000, { lines: true })
const thankYou = object({
  title,
  body: prose,
  redirect_url: nullable(webAddress(['https:'])),
  variants: listOf(object({ when: anything, title, body: prose }, ['when', 'title', 'body']), 20),
})

const settings = object({
  submit_label: text(60, { min: 1 }),
  allowed_origins: listOf(origin, 50),
  captcha: nullable(object({ provider: oneOf('turnstile', 'hcaptcha'), site_key: text(200, { min: 1 }) }, ['provider', 'site_key'])),
  min_fill_seconds: integer(0, 60),
  close_at: nullable(time),
  max_submissions: nullable(integer(1, 10_000_000)),
  closed_message: text(1000, { lines: true }),
  retention_days: nullable(integer(1, 3650)),
  store_ip: oneOf('none', 'hashed', 'full'),
})

const properties: Readonly<Record<string, Check>> = {
  name: text(definitionLimits.name, { min: 1 }),
  locale: matching(localePattern, 'a language such as en or de-CH'),
  translations: (value, _, found) => checkTranslations(value, found),
  schema: object({ version: oneOf(1), fields: anything, layout: anything }, ['version', 'fields']),
  theme,
  logic: anything,
  thank_you: thankYou,
  settings,
}

/** Returns the schema if its fields and layout are valid. */
function checkSchema(schema: JsonObject, found: Findings): Schema | undefined {
  const before = found.list.length
  const { fields, layout } = schema
  if (!Array.isArray(fields)) {
    found.report('schema.fields', 'invalid_type', 'must be a list')
    return undefined
  }
  if (fields.length === 0) found.report('schema.fields', 'too_few', 'must have at least one field')
  if (fields.length > definitionLimits.fields) {
    found.report('schema.fields', 'too_many', `must have at most ${definitionLimits.fields} entries`)
    return undefined
  }
  const types = new Map<string, string>()
  for (const [at, field] of (fields as readonly unknown[]).entries()) checkField(field, `schema.fields[${at}]`, types, found)
  const files = [...types.values()].filter((type) => type === 'file_upload').length
  if (files > definitionLimits.files)
    found.report('schema.fields', 'too_many', `must have at most ${definitionLimits.files} fields of type file_upload`)
  if (fields.length > 0 && ![...types.values()].some((type) => isFieldType(type) && valueKinds[type] !== 'none'))
    found.report('schema.fields', 'too_few', 'must have at least one field with an answer')
  if (layout !== undefined) checkLayout(layout, types, found)
  return found.list.length === before ? (schema as unknown as Schema) : undefined
}

function checkField(field: unknown, path: string, types: Map<string, string>, found: Findings): void {
  if (!isObject(field)) return found.report(path, 'invalid_type', 'must be an object')
  const { key, type } = field
  if (typeof key !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(key))
    found.report(`${path}.key`, 'invalid_key', 'must be small letters, digits and underscores, beginning with a letter, at most 64')
  else if (isReservedKey(key)) found.report(`${path}.key`, 'reserved_key', 'is reserved for submissions; choose another key')
  else if (types.has(key)) found.report(`${path}.key`, 'duplicate_key', 'is the key of another field')
  else types.set(key, String(type))
  if (!isFieldType(type)) return found.report(`${path}.type`, 'unknown_type', 'must be a type of field')
  checkProperties(field, path, propertiesOf(type), found)
  checkTogether(field, path, found)
}

function variantsOf({ thank_you: thanks }: JsonObject): readonly JsonObject[] {
  const variants = isObject(thanks) ? thanks['variants'] : undefined
  return Array.isArray(variants) ? variants.filter(isObject) : []
}

/** Returns warnings about valid but probably unintended content. */
function oddities(definition: Definition): readonly DefinitionWarning[] {
  const texts = textsOf(definition)
  const unknown = Object.entries(definition.translations).flatMap(([locale, places]) =>
    Object.keys(places)
      .filter((place) => !texts.has(place))
      .map((place) => `translations.${locale}.${place}`),
  )
  return [
    ...unknown.slice(0, 20).map((path) => ({ path, code: 'unknown_text', message: 'The form has no text with this path.' })),
    ...definition.schema.fields.flatMap((field, at) => fieldOddities(field, `schema.fields[${at}]`)),
    ...pagesOf(definition.schema)
      .filter(({ rows }) => rows.length === 0)
      .map(({ number }) => ({ path: 'schema.fields', code: 'empty_page', message: `Page ${number} has no fields.` })),
  ]
}

const personal = { email: 'email', phone: 'tel' } as const

function fieldOddities({ type, autocomplete }: Field, path: string): readonly DefinitionWarning[] {
  if ((type !== 'email' && type !== 'phone') || autocomplete !== undefined) return []
  const message = `With autocomplete "${personal[type]}", browsers can fill in this field.`
  return [{ path: `${path}.autocomplete`, code: 'no_autocomplete', message }]
}
