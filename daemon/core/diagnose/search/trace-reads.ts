/** Bounded reads of traces for a diagnosis: the latest of a time, and those to one address. */
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Trace } from '../../trace/trace.ts'
import { walkTraces, type WalkedTraces } from '../../trace/trace-walk.ts'
import type { Window } from './time-window.ts'

/** Shows traces of the window that the principal reaches, newest first, until `visit` returns true. False when more than `max`. */
export const visitTraces = (
  database: Database,
  principal: Principal,
  window: Window,
  max: number,
  visit: (trace: Trace) => boolean | void,
): Promise<boolean> => walk(database, principal, {}, window, max, visit)

/** Traces to one address in any case, the latest first. */
export async function tracesTo(database: Database, principal: Principal, to: string, window: Window, max: number): Promise<Trace[]> {
  const found: Trace[] = []
  await walk(database, principal, { to }, window, maxScan, (trace) => found.push(trace) >= max)
  return found
}

/** Of one address, so many rows are looked at, those of other projects too. */
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
