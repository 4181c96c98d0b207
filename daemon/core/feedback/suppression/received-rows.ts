/** The rows of an import, looked through while they arrive: a file of which not every row can be found adds none. */
import type { Draft } from '#store/content.ts'
import { Refusal } from '../../refusals.ts'

export interface ArrivingRows {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Reads the rows, some at a time. Throws when it cannot go on. */
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<readonly unknown[]>
}

/** Keeps what arrives in the draft. Returns the number of rows; throws `request_too_large`, with the advice, beyond `maxRows`. */
export async function receivedRows(draft: Draft, { bytes, rows }: ArrivingRows, maxRows: number, advice: string): Promise<number> {
  async function* kept(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      await draft.write(chunk)
      yield chunk
    }
  }
  let count = 0
  for await (const some of rows(kept())) {
    count += some.length
    if (count <= maxRows) continue
    const message = `An import can have at most ${maxRows} rows; no row was added. ${advice}`
    throw new Refusal('request_too_large', message, { details: { max_rows: maxRows } })
  }
  return count
}
