/**
 * Rows of unread captures that are not covered by read marks: after a defect, from a release before 2026-11-23, or after the clock was set
 * back. The row survives a crash.
 */
import type { Bytes, Entry, Kv } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

const allKey = globalKey('capture.pending')
export const pendingReadsKey = (organizationId: string): readonly Element[] => [...allKey, organizationId]
export const pendingReadKey = (organizationId: string, captureId: string): readonly Element[] => [
  ...pendingReadsKey(organizationId),
  captureId,
]

export interface PendingRead {
  readonly captureId: string
  readonly traceId: string
}

/** Yields organizations with pending reads. One seek each. */
export async function* organizationsWithPendingReads(kv: Kv): AsyncIterable<string> {
  const { start, end } = within(allKey)
  for (let at = start; ;) {
    const next = await first(kv, at, end)
    if (!next) return
    const organizationId = String(unpack(next.key)[2])
    yield organizationId
    at = within(pendingReadsKey(organizationId)).end
  }
}

/** Returns the pending reads of an organization after `afterId`. */
export async function pendingReads(kv: Kv, organizationId: string, afterId: string, limit: number): Promise<readonly PendingRead[]> {
  const found: PendingRead[] = []
  const { end } = within(pendingReadsKey(organizationId))
  const { end: start } = within(pendingReadKey(organizationId, afterId))
  for await (const { key, value } of kv.range({ start, end, limit }))
    found.push({ captureId: String(unpack(key)[3]), traceId: Buffer.from(value).toString('latin1') })
  return found
}

async function first(kv: Kv, start: Bytes, end: Bytes): Promise<Entry | undefined> {
  for await (const entry of kv.range({ start, end, limit: 1 })) return entry
  return undefined
}
