/** Finds fields of a request without effect. A view of the body records each access, and the trace lists the other fields. */
import * as z from 'zod'

/** Largest number of names in a trace. */
const maxNames = 20
const maxName = 64
/** Limits of list entries that are examined: for all messages of a request together, and the minimum for each message. */
const maxEntries = 10_000
const minEntries = 20

/** Fields of a schema, with their own fields if they have any. */
type Shape =
  | { readonly element: Shape }
  /** Undefined for a field that is used as a whole. */
  | { readonly fields: ReadonlyMap<string, Shape | undefined> }

const shapes = new WeakMap<z.core.$ZodType, { readonly shape: Shape | undefined }>()

/** Cached, since it is the same for every body. */
function shapeOf(schema: z.core.$ZodType): Shape | undefined {
  const known = shapes.get(schema)
  if (known) return known.shape
  const shape = madeShape(unwrapped(schema))
  shapes.set(schema, { shape })
  return shape
}

function madeShape(schema: z.core.$ZodType): Shape | undefined {
  if (schema instanceof z.ZodUnion) return schema.def.options.map((option) => shapeOf(option)).find((shape) => shape !== undefined)
  if (schema instanceof z.ZodObject)
    return { fields: new Map(Object.entries(schema.def.shape).map(([name, field]) => [name, shapeOf(field)])) }
  const element = schema instanceof z.ZodArray ? shapeOf(schema.element) : undefined
  return element && { element }
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.unwrap())
  if (schema instanceof z.ZodPipe) return unwrapped(schema.def.in)
  return schema
}

/** Position of an object in the request. The name of a list entry is its index in brackets. */
interface Place {
  readonly above: Place | undefined
  readonly name: string
}

/** Key that returns the `Part` of a view. */
const partOf = Symbol('part of a request')

/** One object of a request; the handler of its view. */
class Part implements ProxyHandler<Readonly<Record<string, unknown>>> {
  readonly given: Readonly<Record<string, unknown>>
  readonly place: Place | undefined
  readonly #fields: ReadonlyMap<string, Shape | undefined>
  readonly #views = new Map<string, unknown>()
  readonly #read = new Set<string>()
  #filled: readonly string[] | undefined
  #unknown: readonly string[] | undefined

  constructor(given: object, fields: ReadonlyMap<string, Shape | undefined>, place: Place | undefined) {
    this.given = given as Readonly<Record<string, unknown>>
    this.place = place
    this.#fields = fields
  }

  get(given: Readonly<Record<string, unknown>>, name: string | symbol): unknown {
    if (name === partOf) return this
    if (typeof name === 'symbol' || !Object.hasOwn(given, name)) return Reflect.get(given, name)
    this.#read.add(name)
    const shape = this.#fields.get(name)
    if (!shape) return given[name]
    if (!this.#views.has(name)) this.#views.set(name, viewOf(shape, given[name], { above: this.place, name }))
    return this.#views.get(name)
  }

  /** Fields of the schema that have a value and were not read. */
  get unread(): readonly string[] {
    this.#filled ??= [...this.#fields.keys()].filter((name) => Object.hasOwn(this.given, name) && !saysNothing(this.given[name]))
    return this.#filled.filter((name) => !this.#read.has(name))
  }

  /** Fields outside the schema. Cached, since many messages of a request may share the object. */
  get unknown(): readonly string[] {
    return (this.#unknown ??= Object.keys(this.given)
      .filter((name) => !this.#fields.has(name) && !saysNothing(this.given[name]))
      .slice(0, maxNames))
  }

  /** Views of the fields that were read and have fields themselves, by name. */
  get inner(): Iterable<readonly [name: string, view: unknown]> {
    return this.#views
  }
}

const isBlank = (given: unknown): boolean => given === undefined || given === null || given === false || given === ''

/** Returns whether a value is absent, false or empty, or contains only such values. */
export const saysNothing = (given: unknown): boolean =>
  isBlank(given) || (typeof given === 'object' && Object.values(given as object).every(isBlank))

function viewOf(shape: Shape, given: unknown, place: Place | undefined): unknown {
  if (typeof given !== 'object' || given === null) return given
  if ('element' in shape) {
    if (!Array.isArray(given)) return given
    return given.map((one: unknown, i) => viewOf(shape.element, one, { above: place, name: `[${String(i)}]` }))
  }
  if (Array.isArray(given)) return given
  const part = new Part(given, shape.fields, place)
  return new Proxy(part.given, part)
}

/** Returns the checked body as a view that records each access to a field. */
export const watched = <T>(schema: z.ZodType<T>, given: T): T => {
  const shape = shapeOf(schema)
  return (shape ? viewOf(shape, given, undefined) : given) as T
}

const partBehind = (view: unknown): Part | undefined =>
  typeof view === 'object' && view !== null ? (view as { readonly [partOf]?: Part })[partOf] : undefined

/** Returns the object of a view without recording. */
export const unwatched = <T>(view: T): T => (partBehind(view)?.given ?? view) as T

/** Marks fields of the request as read if a message needs them because it does not set them itself. */
export function readDefaults<T extends object>(common: T, messages: readonly object[], names: readonly (keyof T & string)[]): void {
  const own = messages.map((message) => unwatched(message) as Readonly<Record<string, unknown>>)
  for (const name of names) if (own.some((message) => (message[name] ?? null) === null)) Reflect.get(common, name)
}

/**
 * Returns the names of the fields of a message that have no effect, such as `options.ip_pool` and `recipients[3].name`. Fields that are
 * null, false or empty are not listed. `own` contains the list entries of this message, and `divided` the list entries of any message.
 */
export function ignoredFields(view: unknown, own: readonly unknown[], divided: ReadonlySet<unknown>): readonly string[] {
  const found = new Set<string>()
  look(view, undefined, found, divided)
  for (const one of own) look(one, partBehind(one)?.place, found, divided)
  return [...found].slice(0, maxNames)
}

function look(view: unknown, at: Place | undefined, found: Set<string>, divided: ReadonlySet<unknown>): void {
  if (found.size >= maxNames) return
  if (Array.isArray(view)) {
    const place = { above: at, name: '[]' }
    const entries = Math.max(minEntries, Math.floor(maxEntries / Math.max(1, divided.size)))
    for (const one of view.slice(0, entries)) if (!divided.has(one)) look(one, place, found, divided)
    return
  }
  const part = partBehind(view)
  if (!part) return
  for (const name of [...part.unread, ...part.unknown]) found.add(pathOf({ above: at, name: shortName(name) }))
  for (const [name, inner] of part.inner) if (!divided.has(inner)) look(inner, { above: at, name }, found, divided)
}

function pathOf({ above, name }: Place): string {
  if (!above) return name
  return name.startsWith('[') ? `${pathOf(above)}${name}` : `${pathOf(above)}.${name}`
}

/** Shortens and cleans a name, since it comes from the caller. */
function shortName(name: string): string {
  const clean = name.replaceAll(/\p{C}/gu, '?')
  return clean.length > maxName ? `${clean.slice(0, maxName - 1)}…` : clean
}
