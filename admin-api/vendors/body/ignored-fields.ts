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
  look(schema, given, '', found)
  return [...found].slice(0, maxNames)
}

function look(schema: z.core.$ZodType, given: unknown, at: string, found: Set<string>): void {
  if (found.size >= maxNames || given === null || given === undefined) return
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray && Array.isArray(given)) {
    for (const entry of given.slice(0, maxEntries)) look(inner.element, entry, `${at}[]`, found)
  } else if (inner instanceof z.ZodObject && typeof given === 'object' && !Array.isArray(given)) {
    const shape: Readonly<Record<string, z.core.$ZodType>> = inner.def.shape
    for (const [name, value] of Object.entries(given)) {
      const path = at === '' ? shortName(name) : `${at}.${shortName(name)}`
      const { [name]: field } = Object.hasOwn(shape, name) ? shape : {}
      if (field) look(field, value, path, found)
      else if (value !== null && value !== false && value !== '') found.add(path)
      if (found.size >= maxNames) return
    }
  }
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
