/** The rows of an import, looked through while they arrive: a file of which not every row can be found adds none. */
import type { Draft } from '#store/content.ts'
import { giveWay } from '../../event-loop.ts'
import { Refusal } from '../../refusals.ts'

export interface ArrivingRows {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Reads the rows, some at a time. Throws when it cannot go on. */
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<readonly unknown[]>
}

/** Of the shortest rows, a piece has a thousand. */
const pieceBytes = 4096

async function* piecesOf(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += pieceBytes) {
    yield chunk.subarray(at, at + pieceBytes)
    await giveWay()
  }
}

/** What was kept, in pieces whose rows are read in a few milliseconds, with turns for others in between. */
export async function* keptBytes(draft: Draft): AsyncGenerator<Uint8Array> {
  for await (const chunk of draft.read()) yield* piecesOf(chunk)
}

/** Keeps what arrives in the draft. Returns the number of rows; throws `request_too_large`, with the advice, beyond `maxRows`. */
export async function receivedRows(draft: Draft, { bytes, rows }: ArrivingRows, maxRows: number, advice: string): Promise<number> {
  async function* kept(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      await draft.write(chunk)
      yield* piecesOf(chunk)
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
