/**
 * Integrity checks of inbound mail, for `postern verify`: each mail without a delivery has an `unprepared` row, and no other mail has one.
 */
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { inboundMessages, unpreparedKey, type InboundMessage } from './inbound-message.ts'

export async function checkInboundMessage(database: Database, organizationId: string, { id, prepared }: InboundMessage): Promise<string[]> {
  const waits = (await database.kv.get(pack(unpreparedKey(organizationId, id)))) !== undefined
  if (waits === (prepared === null)) return []
  return [
    waits ? 'it has a webhook delivery, but its preparation row still exists' : 'it has neither a webhook delivery nor a preparation row',
  ]
}

export async function checkUnprepared(database: Database, [, , organization, id]: readonly Element[]): Promise<string[]> {
  const stored = await database.get(inboundMessages, { organizationId: String(organization) }, String(id))
  return stored ? [] : [`the mail ${String(id)} is missing`]
}
