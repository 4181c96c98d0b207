/**
 * Schema of a template's variables: a subset of JSON Schema (draft 2020-12), small enough for the error text to list it completely. Spec
 * "Template", `schema_json`.
 */
import type { FieldProblem } from '../refusals.ts'
import { isVariableName } from './syntax.ts'
import { maxFaults, quoted } from './template-fault.ts'

const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
export type TypeName = (typeof typeNames)[number]
type Scalar = string | number | boolean | null

/** Declaration of one value. */
export interface Schema {
  /** undefined: any type. */
  readonly types: readonly TypeName[] | undefined
  /** undefined: any fields. */
  readonly properties: ReadonlyMap<string, Schema> | undefined
  readonly required: readonly string[]
  /** True if undeclared fields are refused. */
  readonly closed: boolean
  readonly items: Schema | undefined
  readonly choices: readonly Scalar[] | undefined
  /** Default of a missing value. */
  readonly fallback: { readonly value: unknown } | undefined
}

const maxDepth = 8
const maxValues = 500
const maxChoices = 100
const rules = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'default']
/** Stored and shown, without effect. */
const notes = ['title', 'description', 'examples', '$schema', '$id', '$comment']
const supported = `there are ${rules.join(', ')}, and for readers title, description and examples`

type Json = Readonly<Record<string, unknown>>

/** Returns the schema and its problems; use the schema only if there are no problems. Does not check defaults. */
export function readSchema(json: unknown, path: string): { readonly schema: Schema; readonly problems: readonly FieldProblem[] } {
  const reader = new SchemaReader()
  const schema = reader.read(json, path, maxDepth)
  const isObject = schema.types?.length === 1 && schema.types[0] === 'object'
  if (!isObject && reader.problems.length === 0)
    reader.problems.push({ path: `${path}.type`, message: 'must be object, with one property for each variable' })
  return { schema, problems: reader.problems }
}

const anything: Schema = {
  types: undefined,
  properties: undefined,
  required: [],
  closed: false,
  items: undefined,
  choices: undefined,
  fallback: undefined,
}

class SchemaReader {
  readonly problems: FieldProblem[] = []
  #values = 0

  read(json: unknown, path: string, depth: number): Schema {
    if (!isObject(json)) return this.#fault(path, 'must be a schema, such as {"type": "string"}', anything)
    if (depth === 0) return this.#fault(path, `is declared deeper than ${maxDepth} levels`, anything)
    if (++this.#values > maxValues) return this.#fault(path, `at most ${maxValues} values are declared`, anything)
    for (const word of Object.keys(json))
      if (!rules.includes(word) && !notes.includes(word))
        this.#fault(`${path}.${quoted(word)}`, `is not supported; ${supported}`, undefined)
    const types = this.#types(json, path)
    const properties = this.#properties(json, path, depth)
    return {
      types,
      properties,
      required: this.#required(json, path, properties),
      closed: this.#closed(json, path),
      items: json['items'] === undefined ? undefined : this.read(json['items'], `${path}.items`, depth - 1),
      choices: this.#choices(json, path),
      fallback: Object.hasOwn(json, 'default') ? { value: json['default'] } : undefined,
    }
  }

  /** Without `type`, `properties` implies an object and `items` implies a list. */
  #types(json: Json, path: string): readonly TypeName[] | undefined {
    const { type } = json
    const given: readonly unknown[] | undefined = Array.isArray(type) ? type : type === undefined ? implied(json) : [type]
    const wrong = given?.some((name) => !typeNames.includes(name as TypeName)) || given?.length === 0
    if (wrong) return this.#fault(`${path}.type`, `must be one of ${typeNames.join(', ')}, or a list of them`, undefined)
    const types = given as readonly TypeName[] | undefined
    const objectWord = ['properties', 'required', 'additionalProperties'].find((word) => json[word] !== undefined)
    if (types && objectWord !== undefined && !types.includes('object'))
      this.#fault(`${path}.${objectWord}`, 'is for the type object', undefined)
    if (types && json['items'] !== undefined && !types.includes('array')) this.#fault(`${path}.items`, 'is for the type array', undefined)
    return types
  }

  #properties(json: Json, path: string, depth: number): ReadonlyMap<string, Schema> | undefined {
    const { properties } = json
    if (properties === undefined) return undefined
    if (!isObject(properties)) return this.#fault(`${path}.properties`, 'must be an object with a schema for each name', undefined)
    const read = new Map<string, Schema>()
    for (const [name, schema] of Object.entries(properties)) {
      const where = `${path}.properties.${quoted(name)}`
      if (!isVariableName(name)) this.#fault(where, 'cannot be named in a template; names have letters, digits, _ and -', undefined)
      read.set(name, this.read(schema, where, depth - 1))
    }
    return read
  }

  #required({ required }: Json, path: string, properties: ReadonlyMap<string, Schema> | undefined): readonly string[] {
    if (required === undefined) return []
    const names: readonly unknown[] | undefined = Array.isArray(required) ? required : undefined
    if (!names?.every((name) => typeof name === 'string')) return this.#fault(`${path}.required`, 'must be a list of names', [])
    for (const [index, name] of names.entries())
      if (!properties?.has(name)) this.#fault(`${path}.required[${index}]`, `${quoted(name)} is not among the properties`, undefined)
    return names
  }

  #closed({ additionalProperties = true }: Json, path: string): boolean {
    if (typeof additionalProperties === 'boolean') return !additionalProperties
    return this.#fault(`${path}.additionalProperties`, 'must be true or false', false)
  }

  #choices(json: Json, path: string): readonly Scalar[] | undefined {
    const choices = json['enum']
    if (choices === undefined) return undefined
    const isList = Array.isArray(choices) && choices.length > 0 && choices.length <= maxChoices && choices.every(isScalar)
    if (isList) return choices
    return this.#fault(`${path}.enum`, `must be a list of 1 to ${maxChoices} texts, numbers, true, false or null`, undefined)
  }

  #fault<T>(path: string, message: string, instead: T): T {
    if (this.problems.length < maxFaults) this.problems.push({ path, message })
    return instead
  }
}

const implied = (json: Json): readonly TypeName[] | undefined =>
  json['properties'] === undefined ? (json['items'] === undefined ? undefined : ['array']) : ['object']

const isObject = (json: unknown): json is Json => typeof json === 'object' && json !== null && !Array.isArray(json)
const isScalar = (json: unknown): json is Scalar => json === null || ['string', 'number', 'boolean'].includes(typeof json)
