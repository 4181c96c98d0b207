/**
 * Captures that the marks pass over although their bodies were not read: by a defect, by a release before 2026-11-23, or as the clock was
 * set back before a start. Each has a row, so that a crash loses no reading.
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

/** Organizations that have any. One seek each. */
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

/** Those of an organization, behind one of them. */
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
