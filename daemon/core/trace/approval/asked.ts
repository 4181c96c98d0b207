/** Pending approvals: the page for the decision, counts, and rows for the notification of members. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, indexPrefix } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { traces } from '../trace.ts'

/** The page for the decision. */
export const approvalPath = (organizationId: string, traceId: string): string => `/organizations/${organizationId}/approvals/${traceId}`

/** Prefix of a row for each approval that members have not been notified of: organization and trace. */
export const askedPrefix = globalKey('approval.asked')
/** Work name for a new pending approval. See `Database.onWork`. */
export const askedWork = 'approval.asked'

export const askedKey = (organizationId: string, traceId: string): readonly Element[] => [...askedPrefix, organizationId, traceId]

/** Adds the row to the write of the message. */
export const noteAsked = (change: Change, organizationId: string, traceId: string): Change =>
  change.set(askedKey(organizationId, traceId)).schedule(askedWork, traceId)

/** Maximum counted messages. */
const maxCounted = 10_000

/** Counts messages that wait for approval by project; only of `projectId` if given. */
export async function awaitingByProject(
  { kv }: Database,
  organizationId: string,
  projectId?: string,
): Promise<ReadonlyMap<string, number>> {
  const prefix = indexPrefix(traces.name, organizationId, 'awaiting')
  const counts = new Map<string, number>()
  const wanted = within(projectId === undefined ? prefix : [...prefix, projectId])
  for await (const { key } of kv.range({ ...wanted, limit: maxCounted, whole: true })) {
    const of = String(unpack(key)[prefix.length])
    counts.set(of, (counts.get(of) ?? 0) + 1)
  }
  return counts
}
