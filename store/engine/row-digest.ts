/** What all rows of a store come to, whichever engine keeps them: copies are compared by it. */
import { createHash } from 'node:crypto'
import { kinds } from './codec.ts'
import type { SnapshotRow } from './snapshot.ts'

export interface RowDigest {
  readonly rows: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

/** The keys of an engine's own lie behind all others. */
const ownPrefix = 0xff

/** Over keys, versions and values in order, without the rows of an engine's own. */
export async function digestRows(snapshot: AsyncIterable<SnapshotRow>): Promise<RowDigest> {
  const sum = createHash('sha256')
  const head = Buffer.alloc(17)
  let rows = 0
  for await (const { kind, key, version, body } of snapshot) {
    if (key[0] === ownPrefix) continue
    const payload = kind === 'large' ? body : body.subarray(9)
    head.writeUInt32BE(key.length, 0)
    head.writeUInt32BE(payload.length, 4)
    head.writeBigUInt64BE(version, 8)
    head[16] = kind === 'large' ? kinds.inline : (body[0] ?? kinds.inline)
    sum.update(head).update(key).update(payload)
    rows++
  }
  return { rows, digest: sum.digest('hex') }
}
