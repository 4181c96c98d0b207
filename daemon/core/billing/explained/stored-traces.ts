/** Records the number of stored traces once a day, in total and for each project, for the monthly average. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { isDeepStrictEqual } from 'node:util'
import { dayOf, storedTracesCounter, storedTracesKey } from '../../tenancy/counters.ts'
import { organizations, projects } from '../../tenancy/organization.ts'
import { largestOf, ofNoProject, type ByProject, type Held } from '../../plan/by-project.ts'

/** Older releases stored a number without projects. */
type Row = number | readonly [count: number, projects: ByProject]

const heldIn = (row: Row): Held => (typeof row === 'number' ? ofNoProject(row) : { count: row[0], projects: row[1] })

/** Records the count once a day, unless it equals the last recorded count. */
export async function noteStoredTraces(database: Database, organizationId: string, nowMs: number): Promise<void> {
  const today = storedTracesKey(organizationId, dayOf(nowMs))
  const { start } = within([organizationId, 'usage.stored'])
  const latest = { start, end: Buffer.concat([pack(today), Buffer.of(0xff)]), limit: 1, reverse: true, whole: true }
  let before: Held = ofNoProject(0)
  for await (const { key, value } of database.kv.range(latest)) {
    if (Buffer.compare(key, pack(today)) === 0) return
    before = heldIn(decode<Row>(value))
  }
  const { count, projects: parts } = await storedNow(database, organizationId)
  if (isDeepStrictEqual({ count, projects: parts }, before)) return
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (!stored) return // removed concurrently
  await database.commit(new Change().setNew(today, encode([count, parts])).checkRecord(organizations, organizationId, stored))
}

async function storedNow(database: Database, organizationId: string): Promise<Held> {
  const counts: [string, number][] = []
  for (const { record } of await database.all(projects, { organizationId }))
    counts.push([record.id, await database.kv.counter(pack(storedTracesCounter(organizationId, record.id)))])
  return { count: await database.kv.counter(pack(storedTracesCounter(organizationId))), projects: largestOf(counts) }
}

/** Returns the counts of consecutive days. A day without a row has the count of the previous day. */
export async function storedByDay({ kv }: Database, organizationId: string, days: readonly string[]): Promise<Held[]> {
  const prefix = within([organizationId, 'usage.stored'])
  const first = pack(storedTracesKey(organizationId, days[0] ?? ''))
  let last = ofNoProject(0)
  for await (const { value } of kv.range({ start: prefix.start, end: first, limit: 1, reverse: true, whole: true }))
    last = heldIn(decode<Row>(value))
  const byDay = new Map<string, Held>()
  const end = within(storedTracesKey(organizationId, days.at(-1) ?? '')).end
  for await (const { key, value } of kv.range({ start: first, end, whole: true }))
    byDay.set(String(unpack(key)[2]), heldIn(decode<Row>(value)))
  return days.map((day) => (last = byDay.get(day) ?? last))
}
