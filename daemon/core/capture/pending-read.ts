/** Captures whose bodies were not read for addresses yet, as rows, so that a crash loses no reading. */
import type { Bytes, Entry, Kv } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

const pendingReadsKey = globalKey('capture.pending')
export const pendingReadKey = (organizationId: string, captureId: string): readonly Element[] => [
  ...pendingReadsKey,
  organizationId,
  captureId,
]

/** `version` is that of the row. */
export interface PendingRead {
  readonly organizationId: string
  readonly captureId: string
  readonly version: bigint
}

/** Each of them once, one of each organization in turn, so that who captures much holds up nobody else. */
export async function* pendingReads(kv: Kv): AsyncIterable<PendingRead> {
  const { start, end } = within(pendingReadsKey)
  const latest = new Map<string, Bytes>()
  for (let isDone = false; !isDone;) {
    isDone = true
    for (let of = await first(kv, start, end); of;) {
      const organizationId = String(unpack(of.key)[2])
      const its = within([...pendingReadsKey, organizationId])
      const seen = latest.get(organizationId)
      const entry = seen ? await first(kv, Buffer.concat([seen, Buffer.of(0)]), its.end) : of
      if (entry) {
        isDone = false
        latest.set(organizationId, entry.key)
        yield { organizationId, captureId: String(unpack(entry.key)[3]), version: entry.version }
      }
      of = await first(kv, its.end, end)
    }
  }
}

async function first(kv: Kv, start: Bytes, end: Bytes): Promise<Entry | undefined> {
  for await (const entry of kv.range({ start, end, limit: 1 })) return entry
  return undefined
}
