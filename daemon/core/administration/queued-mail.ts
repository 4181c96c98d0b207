/** Whether mail still waits that a deletion would discard. */
import type { Database } from '#store/database.ts'
import { queueHead } from '#store/queue.ts'
import { Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { noDestination } from '../trace/waiting-entry.ts'

/** Throws `conflict` when mail of these projects is queued, even if only to be captured. `what` is what would be deleted, in one word. */
export async function refuseWhileQueued(
  database: Database,
  { destinations }: Policy,
  projectIds: ReadonlySet<string>,
  what: 'project' | 'organization',
): Promise<void> {
  for (const id of [noDestination, ...destinations.keys()]) {
    if (!(await isQueuedFor(database, id, projectIds))) continue
    const message = `Messages of this ${what} are still queued; wait until they are sent, or discard them (discard_queued).`
    throw new Refusal('conflict', message, { nextAction: 'wait_or_discard_queued' })
  }
}

async function isQueuedFor(database: Database, destinationId: string, projectIds: ReadonlySet<string>): Promise<boolean> {
  for (const projectId of projectIds) if ((await queueHead(database, { destinationId, projectId }, { limit: 1 })).length > 0) return true
  return false
}
