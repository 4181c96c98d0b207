/** Whether mail still waits that a deletion would discard. */
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
  /** The deletion, which fails with the same refusal when a message is accepted between this look at the queue and its commit. */
  readonly change: Transaction
  readonly nowMs: number
  /** What would be deleted, in one word. */
  readonly what: 'project' | 'organization'
}

const dayMs = 86_400_000

/** Throws `conflict` when mail of these projects is queued, even if only to be captured. */
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

/** Every send is counted in the write that accepts it, under the day in which it came; one that came before midnight may be late. */
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
