/** Refuses a deletion that would discard queued mail. */
import type { Database } from '#store/database.ts'
import { queueHead } from '#store/queue.ts'
import { keyName, pack } from '#store/tuple.ts'
import { Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { dayOf, sendCounter } from '../tenancy/counters.ts'
import type { Project } from '../tenancy/organization.ts'
import { noDestination } from '../trace/waiting-entry.ts'
import type { Transaction } from '../writes/transact.ts'

export interface Deletion {
  readonly database: Database
  /** Write of the deletion. It fails with the same refusal if a message is accepted between this check and the commit. */
  readonly change: Transaction
  readonly nowMs: number
  /** Word for the deleted resource in the error. */
  readonly what: 'project' | 'organization'
}

const dayMs = 86_400_000

/** Throws `conflict` if mail of these projects is queued, including mail that would be captured. */
export async function refuseWhileQueued(deletion: Deletion, policy: Policy, projectIds: ReadonlySet<string>): Promise<void> {
  const { database, what } = deletion
  const message = `Messages of this ${what} are still queued; wait until they are sent, or discard them (discard_queued).`
  const refusal = new Refusal('conflict', message, { nextAction: 'wait_or_discard_queued' })
  for (const id of projectIds) {
    const project = policy.projects.get(id)
    if (project) await refuseWhenSending(deletion, policy.organization.id, project, refusal)
  }
  for (const id of [noDestination, ...policy.destinations.keys()]) if (await isQueuedFor(database, id, projectIds)) throw refusal
}

/**
 * Makes the deletion fail if a send is accepted concurrently. Its write increments the counter of the day of arrival, so both days around
 * midnight are checked.
 */
async function refuseWhenSending(
  { database, change, nowMs }: Deletion,
  organizationId: string,
  { id, createdAt }: Project,
  refusal: Refusal,
): Promise<void> {
  for (const day of new Set([dayOf(Math.max(createdAt, nowMs - dayMs)), dayOf(nowMs)])) {
    const key = sendCounter(organizationId, id, day)
    const sends = await database.kv.counter(pack(key))
    change.add(key, 1, sends + 1).add(key, -1) // counts nothing
    change.limits.set(keyName(pack(key)), () => refusal)
  }
}

async function isQueuedFor(database: Database, destinationId: string, projectIds: ReadonlySet<string>): Promise<boolean> {
  for (const projectId of projectIds)
    if ((await queueHead(database, { destinationId, projectId }, { limit: 1, whole: true })).length > 0) return true
  return false
}
