/** The outcome of the latest notification of a virtual inbox: a row beside the inbox, as it is no setting. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { inboxes } from '../capture.ts'

export interface LastNotify {
  readonly captureId: string
  readonly at: number
  readonly milliseconds: number
  /** Null when there was no answer. */
  readonly statusCode: number | null
  /** In one sentence; null when the receiver took it, with any status from 200 to 299. */
  readonly error: string | null
}

export const lastNotifyKey = (organizationId: string, inboxId: string): readonly Element[] => [organizationId, 'inbox.notified', inboxId]

export async function readLastNotify(database: Database, organizationId: string, inboxId: string): Promise<LastNotify | undefined> {
  const entry = await database.kv.get(pack(lastNotifyKey(organizationId, inboxId)))
  return entry && decode<LastNotify>(entry.value)
}

/** Nothing is noted of an inbox that is gone, or that was changed at the same moment. */
export async function noteNotify(database: Database, organizationId: string, inboxId: string, last: LastNotify): Promise<void> {
  const stored = await database.get(inboxes, { organizationId }, inboxId)
  if (!stored) return
  const change = new Change().check([organizationId, inboxes.name, inboxId], stored.version)
  await database.commit(change.set(lastNotifyKey(organizationId, inboxId), encode(last)))
}
