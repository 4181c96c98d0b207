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

  /** The same rows, added as they are read. */
  async *passing(rows: AsyncIterable<SnapshotRow>): AsyncGenerator<SnapshotRow> {
    for await (const row of rows) {
      this.add(row)
      yield row
    }
  }

  /** Once. */
  digest(): RowDigest {
    return { rows: this.#rows, digest: this.#sum.digest('hex') }
  }
}

export async function digestRows(snapshot: AsyncIterable<SnapshotRow>): Promise<RowDigest> {
  const sum = new RowSum()
  for await (const row of snapshot) sum.add(row)
  return sum.digest()
}
