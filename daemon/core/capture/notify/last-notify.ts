/** Result of an inbox's latest notification, stored in a row outside the inbox's settings. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { inboxes } from '../capture.ts'

export interface LastNotify {
  readonly captureId: string
  readonly at: number
  readonly milliseconds: number
  /** Null without a response. */
  readonly statusCode: number | null
  /** One sentence; null if the receiver returned a status from 200 to 299. */
  readonly error: string | null
}

export const lastNotifyKey = (organizationId: string, inboxId: string): readonly Element[] => [organizationId, 'inbox.notified', inboxId]

export async function readLastNotify(database: Database, organizationId: string, inboxId: string): Promise<LastNotify | undefined> {
  const entry = await database.kv.get(pack(lastNotifyKey(organizationId, inboxId)))
  return entry && decode<LastNotify>(entry.value)
}

/** Stores nothing if the inbox was deleted or has just changed. */
export async function noteNotify(database: Database, organizationId: string, inboxId: string, last: LastNotify): Promise<void> {
  const stored = await database.get(inboxes, { organizationId }, inboxId)
  if (!stored) return
  const change = new Change().check([organizationId, inboxes.name, inboxId], stored.version)
  await database.commit(change.set(lastNotifyKey(organizationId, inboxId), encode(last)))
}
