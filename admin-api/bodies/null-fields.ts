/** Nulls in bodies: for a field that can be left out and takes no null, null says the same as leaving it out. */
import type * as z from 'zod'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** A field of an object, by the object that has it. */
interface NullField {
  readonly holder: Readonly<Record<PropertyKey, unknown>>
  readonly name: PropertyKey
}

/** Issues of a value of the wrong type; any other issue is about a null that was understood. */
const sortFaults: ReadonlySet<Issue['code']> = new Set(['invalid_type', 'invalid_value', 'invalid_union'])

/**
 * The value without the fields that are null and may not be, according to the issues; undefined when they name none. Nulls in
 * lists stay. What is given is not changed.
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

/** The field at a path if it is null, with all that lies on the way to it put into `onTheWay`. */
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
