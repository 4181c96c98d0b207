/** Fields and files of a form. The form records each access. */
import { objectIn } from './json-text.ts'
import type { FormFile, FormRequest } from './form-request.ts'
import type { Fields } from '../dialect.ts'

const maxName = 64

export class Form {
  readonly #request: FormRequest
  /** Cache of fields by prefix, since each prefix is needed several times. */
  readonly #behind = new Map<string, readonly (readonly [name: string, value: string])[]>()
  /** Number of values read, by field name. */
  readonly #readFields = new Map<string, number>()
  readonly #readFiles = new Set<string>()

  constructor(request: FormRequest) {
    this.#request = request
  }

  /** Size of the body in octets. */
  get size(): number {
    return this.#request.size
  }

  all(name: string): readonly string[] {
    this.#readFields.set(name, Infinity)
    return this.#request.fields.get(name) ?? []
  }

  one(name: string): string | undefined {
    this.#readFields.set(name, Math.max(1, this.#readFields.get(name) ?? 0))
    return this.#request.fields.get(name)?.[0] || undefined
  }

  /** Returns whether a field or a file is present. Does not count as reading it. */
  has(name: string): boolean {
    return Boolean(this.#request.fields.get(name)?.[0]) || this.#keys(name).length > 0
  }

  isRepeated(name: string): boolean {
    return (this.#request.fields.get(name)?.length ?? 0) > 1
  }

  is(name: string): boolean {
    return /^(?:yes|true|htmlonly)$/i.test(this.one(name) ?? '')
  }

  /** Returns the files of a part in the order of the request: `name`, and the list forms `name[]` and `name[0]`. */
  files(name: string): readonly FormFile[] {
    const keys = this.#keys(name)
    for (const key of keys) this.#readFiles.add(key)
    return keys.flatMap((key) => this.#request.files.get(key) ?? [])
  }

  #keys(name: string): readonly string[] {
    const isEntry = (key: string): boolean => key.startsWith(name) && /^(?:\[\d{0,9}\])?$/.test(key.slice(name.length))
    return [...this.#request.files.keys()].filter(isEntry)
  }

  /** Returns the fields with this prefix, without the prefix. */
  behind(beginning: string): readonly (readonly [name: string, value: string])[] {
    const known = this.#behind.get(beginning)
    if (known) return known
    const names = [...this.#request.fields.keys()].filter((name) => name.startsWith(beginning))
    const found = names.flatMap((name) => this.all(name).map((value) => [name.slice(beginning.length), value] as const))
    this.#behind.set(beginning, found)
    return found
  }

  /** Reads a field with a JSON object. `fillIn` puts values into its text. */
  object(name: string, fillIn = (_name: string, json: string): string => json): Fields {
    const text = this.one(name)
    return objectIn(text === undefined ? undefined : fillIn(name, text), name)
  }

  /** Names of fields and files without effect. Empty fields are not listed. */
  get ignored(): readonly string[] {
    const fields = [...this.#request.fields].filter(([name, values]) => values.slice(this.#readFields.get(name) ?? 0).some(Boolean))
    const files = [...this.#request.files].filter(([name]) => !this.#readFiles.has(name))
    return [...new Set([...fields, ...files].map(([name]) => name.slice(0, maxName)))]
  }
}
