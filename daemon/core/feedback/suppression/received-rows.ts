/** Parses the rows of an import while they arrive. A file with an unparsable row adds no entry. */
import type { Draft } from '#store/content.ts'
import { giveWay } from '../../event-loop.ts'
import { Refusal } from '../../refusals.ts'

export interface ArrivingRows {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Parses rows in batches. Throws if the input cannot be parsed further. */
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<readonly unknown[]>
}

/** Size of a piece; about a thousand of the shortest rows. */
const pieceBytes = 4096

async function* piecesOf(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += pieceBytes) {
    yield chunk.subarray(at, at + pieceBytes)
    await giveWay()
  }
}

/** Reads the stored bytes in pieces that parse in a few milliseconds, and yields the event loop after each piece. */
export async function* keptBytes(draft: Draft): AsyncGenerator<Uint8Array> {
  for await (const chunk of draft.read()) yield* piecesOf(chunk)
}

/**
 * Stores the arriving bytes in the draft. Returns the number of rows. Throws `request_too_large`, with the advice, if there are more than
 * `maxRows`.
 */
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
