/** Bounded reads of traces for a diagnosis: the latest of a time, and those to one address. */
import type { Database } from '#store/database.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { pack, unpack, type Element } from '#store/tuple.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldAddress } from '../../addresses.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import type { Window } from './time-window.ts'

/** Shows traces of the window that the principal reaches, newest first, until `visit` returns true. False when more than `max`. */
export async function walkTraces(
  database: Database,
  principal: Principal,
  window: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> {
  const index = principal.bound ? 'project' : 'time'
  return walk(database, principal, index, principal.bound ? [principal.projectId] : [], window, max, visit)
}

/** Traces to one address in any case, the latest first. */
export async function tracesTo(database: Database, principal: Principal, address: string, window: Window, max: number): Promise<Trace[]> {
  const found: Trace[] = []
  await walk(database, principal, 'recipient', [foldAddress(address)], window, maxScan, (trace) => found.push(trace) >= max)
  return found
}

/** Of one address, so many rows are looked at, those of other projects too. */
const maxScan = 1000

async function walk(
  database: Database,
  principal: Principal,
  index: string,
  values: readonly Element[],
  { from, to }: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> {
  const prefix = [...indexPrefix(traces.name, principal.organizationId, index), ...values]
  const range = { start: pack([...prefix, from]), end: pack([...prefix, to]), reverse: true, limit: max + 1 }
  let seen = 0
  for await (const { key } of database.kv.range(range)) {
    if (++seen > max) return false
    const stored = await database.get(traces, principal, String(unpack(key).at(-1)))
    if (stored && visit(stored.record) === true) return true
  }
  return true
}
