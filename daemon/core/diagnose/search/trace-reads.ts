/** Bounded reads of traces for a diagnosis: the latest of a time, and those to one address. */
import type { Database } from '#store/database.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { pack, unpack, type Element } from '#store/tuple.ts'
import type { Scope } from '../../access/principal/principal.ts'
import { foldAddress } from '../../addresses.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import type { Window } from './time-window.ts'

/** Shows traces of the window that the scope reaches, the latest first, until `visit` answers true. False when there are more than `max`. */
export async function walkTraces(
  database: Database,
  scope: Scope,
  window: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> {
  const index = scope.bound ? 'project' : 'time'
  return walk(database, scope, index, scope.bound ? [scope.projectId] : [], window, max, visit)
}

/** Traces to one address in any case, the latest first. */
export async function tracesTo(database: Database, scope: Scope, address: string, window: Window, max: number): Promise<Trace[]> {
  const found: Trace[] = []
  await walk(database, scope, 'recipient', [foldAddress(address)], window, scanMax, (trace) => found.push(trace) >= max)
  return found
}

/** Of one address, so many rows are looked at, those of other projects too. */
const scanMax = 1000

async function walk(
  database: Database,
  scope: Scope,
  index: string,
  values: readonly Element[],
  { from, to }: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> {
  const prefix = [...indexPrefix(traces.name, scope.organizationId, index), ...values]
  const range = { start: pack([...prefix, from]), end: pack([...prefix, to]), reverse: true, limit: max + 1 }
  let seen = 0
  for await (const { key } of database.kv.range(range)) {
    if (++seen > max) return false
    const stored = await database.get(traces, scope, String(unpack(key).at(-1)))
    if (stored && visit(stored.record) === true) return true
  }
  return true
}
