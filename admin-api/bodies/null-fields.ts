/** Nulls in bodies: for an optional field that does not accept null, null means the same as omitting the field. */
import type * as z from 'zod'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A field of an object, with the object that contains it. */
interface NullField {
  readonly holder: Readonly<Record<PropertyKey, unknown>>
  readonly name: PropertyKey
}

/** Issues about the type of a value. Other issues concern a null that the schema accepts. */
const sortFaults: ReadonlySet<Issue['code']> = new Set(['invalid_type', 'invalid_value', 'invalid_union'])

/**
 * Returns a copy of the value without the null fields that the issues refuse, or undefined without such fields. Nulls in lists remain. The
 * given value is not changed.
 */
export function withoutRefusedNulls(value: unknown, issues: readonly Issue[]): unknown {
  const dropped = new Map<unknown, Set<PropertyKey>>()
  const onTheWay = new Set<unknown>()
  for (const path of faultPaths(issues, [])) {
    const found = nullFieldAt(value, path, onTheWay)
    if (found) dropped.set(found.holder, (dropped.get(found.holder) ?? new Set()).add(found.name))
  }
  return dropped.size === 0 ? undefined : copied(value, dropped, onTheWay)
}

function* faultPaths(issues: readonly Issue[], parents: Path): Iterable<Path> {
  for (const issue of issues) {
    if (!sortFaults.has(issue.code)) continue
    const path = [...parents, ...issue.path]
    yield path
    if (issue.code === 'invalid_union') for (const branch of issue.errors) yield* faultPaths(branch, path)
  }
}

/** Returns the field at a path if it is null, and adds its parents to `onTheWay`. */
function nullFieldAt(value: unknown, path: Path, onTheWay: Set<unknown>): NullField | undefined {
  const way: unknown[] = []
  let holder = value
  for (const name of path.slice(0, -1)) {
    way.push(holder)
    holder = isHolder(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
  }
  const name = path.at(-1)
  if (name === undefined || !isHolder(holder) || Array.isArray(holder) || !Object.hasOwn(holder, name) || holder[name] !== null)
    return undefined
  for (const each of [...way, holder]) onTheWay.add(each)
  return { holder, name }
}

function copied(value: unknown, dropped: ReadonlyMap<unknown, ReadonlySet<PropertyKey>>, onTheWay: ReadonlySet<unknown>): unknown {
  if (!onTheWay.has(value) || !isHolder(value)) return value
  if (Array.isArray(value)) return value.map((each: unknown) => copied(each, dropped, onTheWay))
  const kept = Object.entries(value).filter(([name]) => dropped.get(value)?.has(name) !== true)
  return Object.fromEntries(kept.map(([name, each]) => [name, copied(each, dropped, onTheWay)]))
}

const isHolder = (value: unknown): value is Readonly<Record<PropertyKey, unknown>> => typeof value === 'object' && value !== null
