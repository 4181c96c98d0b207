/** Whether mail still waits that a deletion would discard. */
import type { Database } from '#store/database.ts'
import { queueHead, type QueuePosition } from '#store/queue.ts'
import { Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy.ts'
import { traces } from '../trace/trace.ts'

const pageRows = 500

/** Throws `conflict` when mail of one of these projects is queued. `what` is what would be deleted, in one word. */
export async function refuseWhileQueued(
  database: Database,
  { organization, destinations }: Policy,
  projectIds: ReadonlySet<string>,
  what: 'project' | 'organization',
): Promise<void> {
  for (const { id } of destinations.values()) {
    if (!(await isQueuedFor(database, organization.id, id, projectIds))) continue
    const message = `Messages of this ${what} are still queued; wait until they are sent, or repeat with ?discard_queued=true and they are not.`
    throw new Refusal('conflict', message, { nextAction: 'wait_or_discard_queued' })
  }
}

/** Organization-wide destinations carry mail of every project, so each message is looked at. */
async function isQueuedFor(
  database: Database,
  organizationId: string,
  destinationId: string,
  projectIds: ReadonlySet<string>,
): Promise<boolean> {
  for (let from: QueuePosition | undefined; ;) {
    const entries = await queueHead(database, destinationId, { from, limit: pageRows })
    const waiting = await Promise.all(entries.map(({ traceId }) => database.get(traces, { organizationId }, traceId)))
    if (waiting.some((stored) => stored && projectIds.has(stored.record.projectId))) return true
    const last = entries.at(-1)
    if (!last || entries.length < pageRows) return false
    from = { dueMs: last.dueMs, traceId: `${last.traceId}\0` }
  }
}
