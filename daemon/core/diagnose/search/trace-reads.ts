/** Bounded reads of traces for a diagnosis: the latest traces of a window, and traces to one address. */
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Trace } from '../../trace/trace.ts'
import { walkTraces, type WalkedTraces } from '../../trace/trace-walk.ts'
import type { Window } from './time-window.ts'

/**
 * Visits traces within the principal's reach, newest first, until `visit` returns true. Returns false if the window has more than `max`
 * traces.
 */
export const visitTraces = (
  database: Database,
  principal: Principal,
  window: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> => walk(database, principal, {}, window, max, visit)

/** Returns traces to one address, case-insensitive, latest first. */
export async function tracesTo(database: Database, principal: Principal, to: string, window: Window, max: number): Promise<Trace[]> {
  const found: Trace[] = []
  await walk(database, principal, { to }, window, maxScan, (trace) => found.push(trace) >= max)
  return found
}

/** Maximum number of rows examined per address, including rows of other projects. */
const maxScan = 1000

async function walk(
  database: Database,
  principal: Principal,
  walked: WalkedTraces,
  { from, to }: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> {
  let seen = 0
  for await (const trace of walkTraces(database, principal, { ...walked, before: to }, max)) {
    if (trace && trace.createdAt < from) return true
    if (++seen > max) return false
    if (trace && visit(trace) === true) return true
  }
  return true
}
