/** Traces as releases before 2026-11-23 kept them: by id, with rows for every order. They are carried over before anything is served. */
import { carryRecords } from '#store/upgrade/carry.ts'
import { Change } from '#store/change.ts'
import type { Database, Visibility } from '#store/database.ts'
import { defineRecord, globalKey, type Stored } from '#store/record-kind.ts'
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

/** Returns how many there were. */
export const carryTraces = (database: Database, progress: (carried: number) => void): Promise<number> =>
  carryRecords(database, { kind: earlierTraces, doneKey: carriedKey, carry: carryOver, progress })

function carryOver(organizationId: string, rows: readonly Stored<Trace>[]): Change {
  const change = new Change()
  for (const stored of rows) change.remove(earlierTraces, organizationId, stored).insertCold(traces, organizationId, stored.record)
  return change
}

/** A trace in either form, for who looks at a store whose traces may not be carried over. */
export const traceInAnyForm = async (database: Database, reach: Visibility, id: string): Promise<Stored<Trace> | undefined> =>
  (await database.get(traces, reach, id)) ?? database.get(earlierTraces, reach, id)
