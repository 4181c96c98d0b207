/** Stores facts from log lines for later lines about the same messages, for a day, because batches can end at any line. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { SourceRef } from './ingest-source.ts'

const keptMs = 86_400_000
/** Maximum length of a name. Names consist of hosts and queue ids or of file names; longer names are invalid. */
const maxName = 300

const sessionKey = ({ organizationId, sourceId }: SourceRef, name: string): readonly Element[] => [
  organizationId,
  'ingest.session',
  sourceId,
  name,
]

/** Returns the stored sessions among the names, by name. */
export async function readSessions<S>(database: Database, source: SourceRef, names: readonly string[]): Promise<ReadonlyMap<string, S>> {
  const asked = names.filter((name) => name.length <= maxName)
  const rows = await database.kv.getMany(asked.map((name) => pack(sessionKey(source, name))))
  return new Map(rows.flatMap((row, i): [string, S][] => (row ? [[asked[i] ?? '', decode<S>(row.value)]] : [])))
}

export function keepSessions(change: Change, source: SourceRef, sessions: ReadonlyMap<string, unknown>, nowMs: number): void {
  for (const [name, session] of sessions) {
    if (name.length > maxName) continue
    const key = sessionKey(source, name)
    change.set(key, encode(session)).expire(nowMs + keptMs, key)
  }
}

export function forgetSessions(change: Change, source: SourceRef, names: readonly string[]): void {
  for (const name of names) change.delete(sessionKey(source, name))
}
