/**
 * Removes a trace with all that belongs to it, in one write: content, attempts, return paths,
 * reports, openings and clicks, and its place in inboxes. Its unsubscribe link works on.
 */
import { Change } from '#store/change.ts'
import { contentRowKey } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { dequeueIfThere } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import { keepUnsubscribe } from '../feedback/suppression/kept-unsubscribe.ts'
import { countTrace } from '../tenancy/counters.ts'
import { engagements } from '../trace/story/engagement.ts'
import { dropReport } from '../trace/story/raw-report.ts'
import { dropDueNotice } from '../trace/notices/due-notices.ts'
import { dropReturnPaths } from '../trace/return-paths.ts'
import { readReports } from '../trace/trace-report.ts'
import { traces, type Trace } from '../trace/trace.ts'
import { waitingEntry } from '../trace/waiting-entry.ts'

/** A trace that waits for nothing more: what is pending or queued is never removed. */
export const isSettled = ({ status }: Trace): boolean => status !== 'pending' && status !== 'queued'

/** False when the trace is gone, is queued again, or changed at the same moment: then nothing is removed. */
export async function removeTrace(database: Database, organizationId: string, traceId: string, nowMs: number): Promise<boolean> {
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored || !isSettled(stored.record)) return false
  const change = await removalOf(database, organizationId, stored, new Change())
  keepUnsubscribe(change, organizationId, stored.record, nowMs)
  return (await database.commit(change)).ok
}

/**
 * Like `removeTrace`, also for what is queued, which is delivered no more; without `nowMs`, unsubscribe links end too. A queue entry
 * that rests after a defect stands elsewhere; it goes when it is due and finds no trace.
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
