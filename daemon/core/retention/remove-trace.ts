/**
 * Deletes a trace with its content, attempts, return paths, reports, opens, clicks and inbox entries, in one write. Its unsubscribe link
 * stays valid.
 */
import { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { dequeueIfThere } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import { keepUnsubscribe } from '../feedback/suppression/kept-unsubscribe.ts'
import { countTrace } from '../tenancy/counters.ts'
import { engagements } from '../trace/timeline/engagement.ts'
import { dropReport } from '../trace/timeline/raw-report.ts'
import { dropDueNotice } from '../trace/notices/due-notices.ts'
import { dropReturnPaths } from '../trace/return-paths.ts'
import { readReports } from '../trace/trace-report.ts'
import { traces, type Trace } from '../trace/trace.ts'
import { waitingEntry } from '../trace/waiting-entry.ts'

/** Returns true if delivery of the trace has ended. Pending and queued traces are never deleted. */
export const isSettled = ({ status }: Trace): boolean => status !== 'pending' && status !== 'queued'

/** Returns false, and deletes nothing, if the trace does not exist, is queued again, or has changed concurrently. */
export async function removeTrace(database: Database, organizationId: string, traceId: string, nowMs: number): Promise<boolean> {
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored || !isSettled(stored.record)) return false
  const change = await removalOf(database, organizationId, stored, new Change())
  keepUnsubscribe(change, organizationId, stored.record, nowMs)
  return (await database.commit(change)).ok
}

/**
 * Like `removeTrace`, but also deletes a queued trace and cancels its delivery. Without `nowMs`, its unsubscribe links end too. An entry
 * delayed by a defect may be at another position; it is removed when it is due and has no trace.
 */
export async function discardTrace(database: Database, organizationId: string, traceId: string, nowMs?: number): Promise<boolean> {
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored) return false
  const change = await removalOf(database, organizationId, stored, new Change())
  if (!isSettled(stored.record)) await dequeueIfThere(database, change, waitingEntry(organizationId, stored.record))
  if (nowMs !== undefined) keepUnsubscribe(change, organizationId, stored.record, nowMs)
  return (await database.commit(change)).ok
}

async function removalOf(database: Database, organizationId: string, stored: Stored<Trace>, change: Change): Promise<Change> {
  const { id, content } = stored.record
  countTrace(change.remove(traces, organizationId, stored), organizationId, stored.record, -1)
  dropReturnPaths(change, stored.record)
  dropDueNotice(change, organizationId, stored.record)
  const engagement = await database.get(engagements, { organizationId }, id)
  if (engagement) change.remove(engagements, organizationId, engagement)
  for (const report of await readReports(database, organizationId, id)) dropReport(change, organizationId, report)
  for (let row = 0; row < content.rows; row++) change.delete(contentRowKey(organizationId, content.id, row))
  for await (const { key } of database.kv.range(within([organizationId, 'event', id]))) change.deletes.push(key)
  return change
}
