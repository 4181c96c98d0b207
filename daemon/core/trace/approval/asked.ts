/** Approvals that are asked for: where a person decides, which wait, and which members have not been notified of yet. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, indexPrefix } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { traces } from '../trace.ts'

/** The page on which a person decides. */
export const approvalPath = (organizationId: string, traceId: string): string => `/organizations/${organizationId}/approvals/${traceId}`

/** A row for each approval that members are still to be notified of: organization and trace. */
export const askedPrefix = globalKey('approval.asked')
/** One came. See `Database.onWork`. */
export const askedWork = 'approval.asked'

export const askedKey = (organizationId: string, traceId: string): readonly Element[] => [...askedPrefix, organizationId, traceId]

/** Stands in the write of the message. */
export const noteAsked = (change: Change, organizationId: string, traceId: string): Change =>
  change.set(askedKey(organizationId, traceId)).schedule(askedWork, traceId)

/** More than these are not counted. */
const maxCounted = 10_000

/** How many messages wait for an approval now, by project; of one, where it is given. */
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
