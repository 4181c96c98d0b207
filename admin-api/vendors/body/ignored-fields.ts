/** What of a body its schema does not name: it was taken, and has no effect. */
import * as z from 'zod'

/** So many are named in a trace. */
const maxNames = 20
const maxName = 64
/** Entries of a list that are looked at. */
const maxEntries = 20

/** Names as in `options.ip_pool`; fields that are null or false say nothing and are not named. */
export function ignoredFields(schema: z.ZodType, given: unknown): readonly string[] {
  const found = new Set<string>()
  look(shapeOf(schema), given, undefined, found)
  return [...found].slice(0, maxNames)
}

/** What a schema names, as far as there is anything below it to look at. */
type Shape =
  | { readonly element: Shape | undefined }
  /** Undefined is a field that has all of its value. */
  | { readonly fields: ReadonlyMap<string, Shape | undefined> }

const shapes = new WeakMap<z.core.$ZodType, { readonly shape: Shape | undefined }>()

/** The same for every body, so it is made once. */
function shapeOf(schema: z.core.$ZodType): Shape | undefined {
  const known = shapes.get(schema)
  if (known) return known.shape
  const inner = unwrapped(schema)
  let shape: Shape | undefined
  if (inner instanceof z.ZodArray) shape = { element: shapeOf(inner.element) }
  else if (inner instanceof z.ZodObject)
    shape = { fields: new Map(Object.entries(inner.def.shape).map(([name, field]) => [name, shapeOf(field)])) }
  shapes.set(schema, { shape })
  return shape
}

/** Where a value stands; put into words only where something is found. */
interface Place {
  readonly above: Place | undefined
  readonly name: string
}

function look(shape: Shape | undefined, given: unknown, at: Place | undefined, found: Set<string>): void {
  if (!shape || typeof given !== 'object' || given === null || found.size >= maxNames) return
  if ('element' in shape) {
    if (!shape.element || !Array.isArray(given)) return
    const place = { above: at, name: '[]' }
    for (let i = 0; i < given.length && i < maxEntries; i++) look(shape.element, given[i], place, found)
  } else if (!Array.isArray(given)) {
    for (const name of Object.keys(given)) {
      const value: unknown = (given as Readonly<Record<string, unknown>>)[name]
      const below = shape.fields.get(name)
      if (below) look(below, value, { above: at, name }, found)
      else if (!shape.fields.has(name) && value !== null && value !== false && value !== '') found.add(pathOf({ above: at, name }))
      if (found.size >= maxNames) return
    }
  }
}

function pathOf({ above, name }: Place): string {
  if (name === '[]') return `${above ? pathOf(above) : ''}[]`
  return above ? `${pathOf(above)}.${shortName(name)}` : shortName(name)
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.unwrap())
  if (schema instanceof z.ZodPipe) return unwrapped(schema.def.in)
  return schema
}

/** Names come from the caller. */
function shortName(name: string): string {
  const clean = name.replaceAll(/\p{C}/gu, '?')
  return clean.length > maxName ? `${clean.slice(0, maxName - 1)}…` : clean
}
