/** Captures whose bodies were not read for addresses yet, as rows, so that a crash loses no reading. */
import { globalKey } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'

export const pendingReadsKey = globalKey('capture.pending')
export const pendingReadKey = (organizationId: string, captureId: string): readonly Element[] => [
  ...pendingReadsKey,
  organizationId,
  captureId,
]
