/**
 * Capture records of releases before 2026-11-23, separate from traces. The start moves them into their traces before the service accepts
 * requests.
 */
import { carryRecords } from '#store/upgrade/carry.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, globalKey, type Immutable, type Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import * as z from 'zod'
import { arrivals } from '../trace/arrivals.ts'
import { traces } from '../trace/trace.ts'
import { captureReasons } from './capture.ts'
import { pendingReadKey } from './reading/pending-read.ts'

const schema = z.strictObject({
  id: z.string(),
  traceId: z.string(),
  projectId: z.string(),
  captureReason: z.enum(captureReasons),
  destinationId: z.string().nullable(),
  intendedFrom: z.string(),
  intendedTo: z.array(z.string()),
  addressesSeen: z.array(z.string()),
  foundLater: z.strictObject({ place: z.string(), addresses: z.array(z.string()) }).optional(),
  capturedAt: z.int(),
})

export type EarlierCapture = Immutable<z.infer<typeof schema>>

export const earlierCaptures = defineRecord<EarlierCapture>({
  name: 'capture',
  schema,
  indexes: {
    project: (capture) => [[capture.projectId]],
    trace: (capture) => [[capture.traceId]],
    address: (capture) => [...arrivals(capture)].map(([pattern, at]) => [capture.projectId, pattern, ...at]),
  },
  projectOf: (capture) => capture.projectId,
})

/** Marks that all captures have been converted. */
const carriedKey = globalKey('carried', 'captures')

/** Converts the captures after their traces. Returns the number of captures. */
export const carryCaptures = (database: Database, progress: (carried: number) => void): Promise<number> =>
  carryRecords(database, {
    kind: earlierCaptures,
    doneKey: carriedKey,
    carry: (organizationId, rows) => carryOver(database, organizationId, rows),
    progress,
  })

async function carryOver(database: Database, organizationId: string, rows: readonly Stored<EarlierCapture>[]): Promise<Change> {
  const change = new Change()
  const ids = rows.map(({ record }) => record.traceId)
  const found = await database.getMany(traces, { organizationId }, ids)
  const unread = await database.kv.getMany(rows.map(({ record }) => pack(pendingReadKey(organizationId, record.id))))
  for (const [i, stored] of rows.entries()) {
    const { id, traceId, capturedAt, addressesSeen, foundLater } = stored.record
    change.remove(earlierCaptures, organizationId, stored)
    if (unread[i]) change.set(pendingReadKey(organizationId, id), Buffer.from(traceId))
    const trace = found[i]
    if (!trace || trace.record.capture || ids.indexOf(traceId) < i) continue
    const capture = { id, at: capturedAt, addressesSeen, ...(foundLater && { foundLater }) }
    change.replace(traces, organizationId, trace, { ...trace.record, capture })
  }
  return change
}
