/** Checks variables against their schema, and fills in defaults. */
import type { FieldProblem } from '../refusals.ts'
import type { Schema, TypeName } from './schema.ts'
import { maxFaults, quoted } from './template-fault.ts'

/** Type names in messages. */
const texts: Readonly<Record<TypeName, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

/** Returns the types in words, for example `text or null`. */
export const typeNames = (types: readonly TypeName[]): string => types.map((type) => texts[type]).join(' or ')

/** `path` names the whole value in problems. The returned value is a copy without prototypes. */
export function fitValues(
  schema: Schema,
  value: unknown,
  path: string,
): { readonly value: unknown; readonly problems: readonly FieldProblem[] } {
  const fitting = new Fitting()
  return { value: fitting.fit(schema, value, path), problems: fitting.problems }
}

/** Returns the problems of a schema's defaults. Each default must match the schema. */
export function wrongDefaults(schema: Schema, path: string): FieldProblem[] {
  const inner = [...(schema.properties ?? [])].flatMap(([name, one]) => wrongDefaults(one, `${path}.properties.${name}`))
  const items = schema.items ? wrongDefaults(schema.items, `${path}.items`) : []
  const own = schema.fallback ? fitValues(schema, schema.fallback.value, `${path}.default`).problems : []
  return [...own, ...inner, ...items]
}

class Fitting {
  readonly problems: FieldProblem[] = []

  fit(schema: Schema, value: unknown, path: string): unknown {
    const { types, choices, items } = schema
    if (types && !types.some((type) => isOfType(type, value))) {
      this.#problem(path, `expected ${typeNames(types)}, got ${given(value)}`)
      return value
    }
    if (choices && !choices.some((choice) => choice === value)) {
      const shown = choices.slice(0, 20).map((choice) => quoted(String(choice)))
      this.#problem(path, `must be one of ${shown.join(', ')}${choices.length > shown.length ? ', …' : ''}`)
    }
    if (Array.isArray(value)) return items ? value.map((entry, index) => this.fit(items, entry, `${path}[${index}]`)) : value
    return typeof value === 'object' && value !== null ? this.#fitFields(schema, value, path) : value
  }

  #fitFields({ properties, required, closed }: Schema, value: object, path: string): unknown {
    const fields = Object.create(null) as Record<string, unknown>
    for (const [name, field] of Object.entries(value)) {
      const declared = properties?.get(name)
      const where = `${path}.${quoted(name)}`
      if (!declared && closed) this.#problem(where, 'is not declared by the template')
      fields[name] = declared ? this.fit(declared, field, where) : (field as unknown)
    }
    for (const [name, { fallback }] of properties ?? []) {
      if (Object.hasOwn(fields, name)) continue
      if (fallback) fields[name] = fallback.value
      else if (required.includes(name)) this.#problem(`${path}.${name}`, 'is required by the template')
    }
    return fields
  }

  #problem(path: string, message: string): void {
    if (this.problems.length < maxFaults) this.problems.push({ path, message })
  }
}

function isOfType(type: TypeName, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

function given(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return texts[typeof value as TypeName] ?? 'nothing'
}
