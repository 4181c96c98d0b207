/** Which recipient of which message a return path of VERP was made for: one row each, kept for as long as bounces are expected. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Trace } from './trace.ts'
import { newVerpId, openVerpAddress, verpAddress, verpIdOf } from './verp-address.ts'

/** A bounce that comes later than this is not attributed any more. */
const acceptedMs = 30 * 24 * 3_600_000

/** Whom a return path stands for. */
export interface VerpRecipient {
  readonly organizationId: string
  readonly traceId: string
  readonly address: string
}

const rowKey = (id: string): readonly Element[] => globalKey('verp', id)

/** The trace with a return path of its own at `domain` for each recipient that waits, and the rows by which they are found again. */
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

/** Keeps the return paths of recipients that wait for their whole time from `nowMs` on, as the first sending and a replay need it. */
export function keepReturnPaths(change: Change, organizationId: string, trace: Trace, nowMs: number): void {
  for (const { address, status, verp } of trace.recipients) {
    if (status !== 'queued' || verp === undefined) continue
    const key = rowKey(verpIdOf(verp))
    change.set(key, encode([organizationId, trace.id, address])).expire(nowMs + acceptedMs, key)
  }
}

/** Forgets the return paths of a trace that goes. */
export function dropReturnPaths(change: Change, { recipients }: Trace): void {
  for (const { verp } of recipients) if (verp !== undefined) change.delete(rowKey(verpIdOf(verp)))
}

/** Whom the return path was made for; undefined when it is not ours, or too old. Forms that forwarders wrapped are understood. */
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
