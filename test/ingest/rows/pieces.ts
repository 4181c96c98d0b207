/** Splits bytes like a network: pieces end anywhere, also inside a character. */
import type { Seeded } from '../../support/seeded.ts'

export async function* inPieces(text: string | Uint8Array, seeded?: Seeded): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string)
  for (let at = 0; at < bytes.length;) {
    const size = seeded ? seeded.between(1, 7) : bytes.length
    yield bytes.subarray(at, at + size)
    at += size
  }
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
