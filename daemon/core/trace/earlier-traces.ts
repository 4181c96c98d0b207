/**
 * Trace records of releases before 2026-11-23: stored by id, with rows for every order. The start converts them before the service accepts
 * requests.
 */
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

/** Marks that all traces have been converted. */
const carriedKey = globalKey('carried', 'traces')

/** Converts the traces and returns their number. */
export const carryTraces = (database: Database, progress: (carried: number) => void): Promise<number> =>
  carryRecords(database, { kind: earlierTraces, doneKey: carriedKey, carry: carryOver, progress })

function carryOver(organizationId: string, rows: readonly Stored<Trace>[]): Change {
  const change = new Change()
  for (const stored of rows) change.remove(earlierTraces, organizationId, stored).insertCold(traces, organizationId, stored.record)
  return change
}

/** Reads a trace in either format, for stores whose traces may not be converted yet. */
export const traceInAnyForm = async (database: Database, reach: Visibility, id: string): Promise<Stored<Trace> | undefined> =>
  (await database.get(traces, reach, id)) ?? database.get(earlierTraces, reach, id)
