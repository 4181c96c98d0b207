/** Compares two definitions: by key for fields, and by path for everything else. */
import type { Definition, Field } from './definition.ts'
import { inReadingOrder } from './layout.ts'

export interface DefinitionChange {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved'
  /** Path such as `fields.email.label` or `settings.submit_label`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const maxChanges = 1000

export function diffDefinitions(before: Definition, after: Definition): readonly DefinitionChange[] {
  const changes = [...fieldChanges(before.schema.fields, after.schema.fields), ...moves(before, after)]
  const parts = ['name', 'locale', 'theme', 'thank_you', 'settings', 'translations'] as const
  for (const part of parts) valueChanges(before[part], after[part], part, changes)
  valueChanges(before.logic.rules, after.logic.rules, 'logic.rules', changes)
  if (before.schema.layout || after.schema.layout)
    valueChanges(before.schema.layout?.rows, after.schema.layout?.rows, 'layout.rows', changes)
  return changes.slice(0, maxChanges)
}

function fieldChanges(before: readonly Field[], after: readonly Field[]): DefinitionChange[] {
  const earlier = new Map(before.map((field) => [field.key, field]))
  const changes: DefinitionChange[] = []
  for (const field of after) {
    const old = earlier.get(field.key)
    earlier.delete(field.key)
    if (old) valueChanges(old, field, `fields.${field.key}`, changes)
    else changes.push({ kind: 'added', path: `fields.${field.key}`, after: field })
  }
  for (const field of earlier.values()) changes.push({ kind: 'removed', path: `fields.${field.key}`, before: field })
  return changes
}

/** Returns common fields whose position among the common fields differs. */
function moves(before: Definition, after: Definition): DefinitionChange[] {
  const keysOf = ({ schema }: Definition): readonly string[] => inReadingOrder(schema).map(({ key }) => key)
  const [old, now] = [keysOf(before), keysOf(after)]
  const [inOld, inNow] = [new Set(old), new Set(now)]
  const [first, second] = [old.filter((key) => inNow.has(key)), now.filter((key) => inOld.has(key))]
  return second.flatMap((key, at) =>
    first[at] === key ? [] : [{ kind: 'moved' as const, path: `fields.${key}`, before: first.indexOf(key) + 1, after: at + 1 }],
  )
}

function valueChanges(before: unknown, after: unknown, path: string, changes: DefinitionChange[]): void {
  if (before === after || changes.length >= maxChanges) return
  if (before === undefined) return void changes.push({ kind: 'added', path, after })
  if (after === undefined) return void changes.push({ kind: 'removed', path, before })
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after))
    return void changes.push({ kind: 'changed', path, before, after })
  const isList = Array.isArray(after)
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    valueChanges(before[name], after[name], isList ? `${path}[${name}]` : `${path}.${name}`, changes)
}

const isBranch = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
