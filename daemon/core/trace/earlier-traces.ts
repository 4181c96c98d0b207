/** Traces as releases before 2026-11-23 kept them: by id, with rows for every order. They are carried over before anything is served. */
import { Change } from '#store/change.ts'
import type { Database, Visibility } from '#store/database.ts'
import { defineRecord, globalKey, type Stored } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { foldAddress } from '../addresses.ts'
import { scheduledUnder, traces, type Trace } from './trace.ts'

export const earlierTraces = defineRecord<Trace>({
  name: 'trace',
  schema: traces.schema,
  indexes: {
    time: (trace) => [[trace.createdAt]],
    project: (trace) => [[trace.projectId, trace.createdAt]],
    scheduled: scheduledUnder,
    recipient: (trace) => trace.recipients.map(({ address }) => [foldAddress(address), trace.createdAt]),
  },
  lookups: { id: (trace) => [[trace.id]] },
  projectOf: (trace) => trace.projectId,
})

/** Says that nothing is left to carry over. */
const carriedKey = globalKey('carried', 'traces')

/** Traces in one write, and those after which the progress is reported. */
const batch = 200
const reportedEvery = 50_000

/**
 * Carries the traces of an earlier release over, in small writes: what a crash leaves is carried with the next start. Returns how many
 * there were. Nothing else may write meanwhile.
 */
export async function carryTraces(database: Database, progress: (carried: number) => void): Promise<number> {
  if (await database.kv.get(pack(carriedKey))) return 0
  let carried = 0
  for await (const organizationId of owners(database)) {
    for (;;) {
      const { rows } = await database.list(earlierTraces, { organizationId }, { limit: batch, ascending: true })
      if (rows.length === 0) break
      await database.commit(carryOver(organizationId, rows))
      if (Math.floor((carried + rows.length) / reportedEvery) > Math.floor(carried / reportedEvery)) progress(carried + rows.length)
      carried += rows.length
    }
  }
  await database.commit(new Change().set(carriedKey))
  return carried
}

function carryOver(organizationId: string, rows: readonly Stored<Trace>[]): Change {
  const change = new Change()
  for (const stored of rows) change.remove(earlierTraces, organizationId, stored).insertCold(traces, organizationId, stored.record)
  return change
}

/** What keys begin with: organizations, and others that have records of their own. One seek each. */
export async function* owners(database: Database): AsyncGenerator<string> {
  for (let start: Uint8Array = within(['']).end; ;) {
    let owner: string | undefined
    for await (const { key } of database.kv.range({ start, end: Buffer.of(0xff), limit: 1 })) owner = String(unpack(key)[0])
    if (owner === undefined) return
    yield owner
    start = within([owner]).end
  }
}

/** A trace in either form, for who looks at a store whose traces may not be carried over. */
export const traceInAnyForm = async (database: Database, reach: Visibility, id: string): Promise<Stored<Trace> | undefined> =>
  (await database.get(traces, reach, id)) ?? database.get(earlierTraces, reach, id)
