/** Digest over all rows of a store, independent of the engine. It proves that a copy equals its source. */
import { createHash } from 'node:crypto'
import { kinds } from './codec.ts'
import type { SnapshotRow } from './snapshot.ts'

export interface RowDigest {
  readonly rows: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

/** First octet of internal keys of an engine. They sort after all other keys. */
const ownPrefix = 0xff

/** Digest over keys, versions and values in key order. Internal rows of an engine do not count. */
export class RowSum {
  readonly #sum = createHash('sha256')
  readonly #head = Buffer.alloc(17)
  #rows = 0

  add({ kind, key, version, body }: SnapshotRow): void {
    if (key[0] === ownPrefix) return
    const payload = kind === 'large' ? body : body.subarray(9)
    this.#head.writeUInt32BE(key.length, 0)
    this.#head.writeUInt32BE(payload.length, 4)
    this.#head.writeBigUInt64BE(version, 8)
    this.#head[16] = kind === 'large' ? kinds.inline : (body[0] ?? kinds.inline)
    this.#sum.update(this.#head).update(key).update(payload)
    this.#rows++
  }

  /** Returns the same rows and adds each one as it passes. */
  async *passing(rows: AsyncIterable<SnapshotRow>): AsyncGenerator<SnapshotRow> {
    for await (const row of rows) {
      this.add(row)
      yield row
    }
  }

  /** Call it only once. */
  digest(): RowDigest {
    return { rows: this.#rows, digest: this.#sum.digest('hex') }
  }
}

export async function digestRows(snapshot: AsyncIterable<SnapshotRow>): Promise<RowDigest> {
  const sum = new RowSum()
  for await (const row of snapshot) sum.add(row)
  return sum.digest()
}
