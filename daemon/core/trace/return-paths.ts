/** Maps VERP return paths to recipients: one row each, stored while bounces are expected. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Trace } from './trace.ts'
import { newVerpId, openVerpAddress, verpAddress, verpIdOf } from './verp-address.ts'

/** Later bounces are no longer attributed. */
const acceptedMs = 30 * 24 * 3_600_000

/** Recipient of a return path. */
export interface VerpRecipient {
  readonly organizationId: string
  readonly traceId: string
  readonly address: string
}

const rowKey = (id: string): readonly Element[] => globalKey('verp', id)

/** Returns the trace with a separate return path at `domain` for each waiting recipient, and adds the lookup rows. */
export function giveReturnPaths(change: Change, secrets: SecretBox, organizationId: string, trace: Trace, domain: string): Trace {
  const recipients = trace.recipients.map((recipient) => {
    if (recipient.status !== 'queued') return recipient
    const id = newVerpId()
    change.check(rowKey(id), undefined)
    return { ...recipient, verp: verpAddress(secrets, id, domain) }
  })
  const given = { ...trace, verp: { domain }, recipients }
  keepReturnPaths(change, organizationId, given, trace.sendAt ?? trace.createdAt)
  return given
}

/** Extends the rows of waiting recipients to the full period from `nowMs`, for the first send and for replays. */
export function keepReturnPaths(change: Change, organizationId: string, trace: Trace, nowMs: number): void {
  for (const { address, status, verp } of trace.recipients) {
    if (status !== 'queued' || verp === undefined) continue
    const key = rowKey(verpIdOf(verp))
    change.set(key, encode([organizationId, trace.id, address])).expire(nowMs + acceptedMs, key)
  }
}

/** Deletes the return paths of a deleted trace. */
export function dropReturnPaths(change: Change, { recipients }: Trace): void {
  for (const { verp } of recipients) if (verp !== undefined) change.delete(rowKey(verpIdOf(verp)))
}

/** Returns the recipient of a return path; undefined if it is foreign or too old. Accepts forms that a forwarder has wrapped. */
export async function recipientOfVerp(database: Database, secrets: SecretBox, returnPath: string): Promise<VerpRecipient | undefined> {
  const id = openVerpAddress(secrets, returnPath)
  const row = id === undefined ? undefined : await database.kv.get(pack(rowKey(id)))
  return row && toVerpRecipient(row.value)
}

/** Reads a row. */
export function toVerpRecipient(value: Uint8Array): VerpRecipient {
  const [organizationId, traceId, address] = decode<[string, string, string]>(value)
  return { organizationId, traceId, address }
}
