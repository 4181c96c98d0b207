/** Reads logs like the HTTP endpoint: group by group, with a memory between them. */
import type { Unreadable } from '#ingest/events/json-value.ts'
import type { LineEvent, LogSession, RejectedLine } from '#ingest/logs/log-group.ts'
import { readLog, type LogSource } from '#ingest/logs/log.ts'
import type { Seeded } from '../../support/seeded.ts'
import { inPieces } from '../rows/pieces.ts'

export interface WholeReading {
  readonly lines: number
  readonly events: readonly LineEvent[]
  readonly rejected: readonly RejectedLine[]
  readonly ignored: number
}

export async function readWholeLog(
  source: LogSource,
  log: string | Uint8Array,
  memory = new Map<string, LogSession>(),
  seeded?: Seeded,
): Promise<WholeReading> {
  const whole = { lines: 0, events: [] as LineEvent[], rejected: [] as RejectedLine[], ignored: 0 }
  for await (const group of readLog(source, inPieces(log, seeded))) {
    const known = new Map(group.needs.flatMap((name) => (memory.has(name) ? [[name, memory.get(name) as LogSession] as const] : [])))
    const { events, rejected, ignored, remember, forget } = group.read(known)
    for (const [name, session] of remember) memory.set(name, structuredClone(session))
    for (const name of forget) memory.delete(name)
    whole.events.push(...events)
    whole.rejected.push(...rejected)
    whole.lines += group.lines
    whole.ignored += ignored.length
  }
  return whole
}

/** The keys of events in a stable order. */
export const keysOf = (events: readonly { readonly event: { readonly key: string } }[]): readonly string[] =>
  events.map(({ event }) => event.key).toSorted()

/** Throws if the body is unreadable. */
export function readable<T extends object>(reading: T | Unreadable): T {
  if ('problems' in reading) throw new Error(JSON.stringify(reading))
  return reading
}
