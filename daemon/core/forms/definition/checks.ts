/** Basic checks of untrusted JSON. Each check reports a problem with its path and the expected value. */

export interface DefinitionProblem {
  /** Path of the value, such as `schema.fields[2].label`. */
  readonly path: string
  readonly code: string
  readonly message: string
}

/** Maximum number of reported problems; authors correct the first problems first. */
const maxProblems = 100

export class Findings {
  readonly list: DefinitionProblem[] = []

  report(path: string, code: string, message: string): void {
    if (this.list.length < maxProblems) this.list.push({ path, code, message })
  }
}

export type Check = (value: unknown, path: string, found: Findings) => void
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

/** Checks text on one line, or on several lines with `lines`. */
export const text =
  (max: number, { min = 0, lines = false }: { readonly min?: number; readonly lines?: boolean } = {}): Check =>
  (value, path, found) => {
    if (typeof value !== 'string') return found.report(path, 'invalid_type', 'must be text')
    if (value.trim().length < min) return found.report(path, 'required', 'must not be empty')
    if (value.length > max) return found.report(path, 'too_long', `must have at most ${max} characters`)
    if (controls.test(value) || (!lines && /[\n\r\u2028\u2029]/.test(value)))
      found.report(path, 'invalid_text', lines ? 'must have no control characters' : 'must be on one line, without control characters')
  }

export const boolean: Check = (value, path, found) => {
  if (typeof value !== 'boolean') found.report(path, 'invalid_type', 'must be true or false')
}

export const integer =
  (min: number, max: number): Check =>
  (value, path, found) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return found.report(path, 'invalid_type', 'must be a whole number')
    if (value < min || value > max) found.report(path, 'out_of_range', `must be from ${min} to ${max}`)
  }

const largest = 1e15

export const number: Check = (value, path, found) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) return found.report(path, 'invalid_type', 'must be a number')
  if (Math.abs(value) > largest) found.report(path, 'out_of_range', `must be from -${largest} to ${largest}`)
}

export const oneOf =
  (...values: readonly (string | number)[]): Check =>
  (value, path, found) => {
    if (!values.includes(value as string)) found.report(path, 'not_allowed', `must be ${inWords(values.map(String))}`)
  }

export const matching =
  (pattern: RegExp, what: string): Check =>
  (value, path, found) => {
    if (typeof value !== 'string') return found.report(path, 'invalid_type', 'must be text')
    if (!pattern.test(value)) found.report(path, 'invalid_text', `must be ${what}`)
  }

export const nullable =
  (check: Check): Check =>
  (value, path, found) => {
    if (value !== null) check(value, path, found)
  }

export const listOf =
  (check: Check, max: number, min = 0): Check =>
  (value, path, found) => {
    if (!Array.isArray(value)) return found.report(path, 'invalid_type', 'must be a list')
    if (value.length < min) return found.report(path, 'too_few', `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`)
    if (value.length > max) return found.report(path, 'too_many', `must have at most ${max} entries`)
    for (const [at, entry] of value.entries()) check(entry, `${path}[${at}]`, found)
  }

/** Checks an object that has only these properties, including all `required` properties. */
export const object =
  (properties: Readonly<Record<string, Check>>, required: readonly string[] = []): Check =>
  (value, path, found) => {
    if (!isObject(value)) return found.report(path, 'invalid_type', 'must be an object')
    checkProperties(value, path, { properties, required }, found)
  }

export function checkProperties(
  value: JsonObject,
  path: string,
  { properties, required }: { readonly properties: Readonly<Record<string, Check>>; readonly required: readonly string[] },
  found: Findings,
): void {
  const at = (name: string): string => (path === '' ? shown(name) : `${path}.${shown(name)}`)
  for (const name of required) if (value[name] === undefined) found.report(at(name), 'required', 'is required')
  for (const [name, given] of Object.entries(value)) {
    const check = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!check) found.report(at(name), 'unknown_property', 'is not a known property; remove it')
    else if (given !== undefined) check(given, at(name), found)
  }
}

/** Checks a URL that pages can load or open. */
export const webAddress =
  (protocols: readonly string[]): Check =>
  (value, path, found) => {
    const url = typeof value === 'string' && value.length <= 2048 ? parseUrl(value) : undefined
    if (!url || !protocols.includes(url.protocol) || url.username !== '' || url.password !== '')
      found.report(path, 'invalid_url', `must be an address that begins with ${inWords(protocols.map((protocol) => `${protocol}//`))}`)
  }

export function parseUrl(value: string): URL | undefined {
  try {
    return new URL(value)
  } catch {
    return undefined
  }
}

/** Shortens property names, which come from the caller, to one line. */
const shown = (name: string): string => (/^[\w.-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64)))

function inWords(values: readonly string[]): string {
  const last = values.at(-1) ?? ''
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`
}
