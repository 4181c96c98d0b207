/** All settings as a list, for documentation, masks and checks of completeness. */
import { z } from 'zod'
import type { Documentation } from './fields.ts'
import { schema } from './schema.ts'

/** One setting. `path`: its place in the configuration file. `fallback`: its default in the form of that file. */
export interface Setting extends Documentation {
  readonly path: readonly string[]
  readonly fallback: unknown
}

/** Defaults of all settings in the form of the configuration file. */
export const defaults: Readonly<Record<string, unknown>> = z.encode(schema, schema.parse({}))

/** All settings in the order of the schema. */
export const settings: readonly Setting[] = collect(schema, [])

/** Returns the value at a path of nested objects; undefined without a value. */
export function at(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isSection(value) && Object.hasOwn(value, key) ? value[key] : undefined), root)
}

/** Returns whether a value is an object with settings and not a list. */
export function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function collect(section: z.ZodObject, path: readonly string[]): Setting[] {
  return Object.entries(section.shape).flatMap(([key, field]) => {
    const here = [...path, key]
    const inner = field instanceof z.ZodPrefault ? field.unwrap() : field
    if (inner instanceof z.ZodObject) return collect(inner, here)
    const documentation = z.globalRegistry.get(field) as Documentation | undefined
    if (!documentation?.limit) throw new TypeError(`${here.join('.')} has no documentation`)
    return [{ ...documentation, path: here, fallback: at(defaults, here) }]
  })
}
