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

/** `version` is that of the row, whose value is the id of the trace. */
export interface PendingRead {
  readonly organizationId: string
  readonly captureId: string
  readonly traceId: string
  readonly version: bigint
}

/** What is not to be begun: anything of these organizations, and these captures. */
export interface Skipped {
  readonly organizations: { has(organizationId: string): boolean }
  readonly captures: { has(captureId: string): boolean }
}

/** The first of each organization, in the order of the organizations. */
export async function* firstPendingReads(kv: Kv, skipped: Skipped): AsyncIterable<PendingRead> {
  const { start, end } = within(pendingReadsKey)
  for (let at = start; ;) {
    const next = await first(kv, at, end)
    if (!next) return
    const organizationId = String(unpack(next.key)[2])
    const its = within([...pendingReadsKey, organizationId])
    if (!skipped.organizations.has(organizationId))
      for await (const { key, value, version } of kv.range(its)) {
        const captureId = String(unpack(key)[3])
        if (skipped.captures.has(captureId)) continue
        yield { organizationId, captureId, traceId: Buffer.from(value).toString('latin1'), version }
        break
      }
    at = its.end
  }
}

async function first(kv: Kv, start: Bytes, end: Bytes): Promise<Entry | undefined> {
  for await (const entry of kv.range({ start, end, limit: 1 })) return entry
  return undefined
}
