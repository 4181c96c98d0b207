/** What the readers of rows share: bytes to text, whatever the pieces they come in, and the one way in which a file cannot be read. */

/** The rows cannot be found. The message says what is wrong with the file, and where. */
export class UnreadableRows extends Error {
  override readonly name = 'UnreadableRows'
}

/** Longest row, in UTF-16 units: what is longer is no row, but a quote or bracket that was left open. */
export const maxRowUnits = 65_536

/** Bytes that become one piece of text: its rows are found in one go. */
const pieceBytes = 16_384

/** The text in pieces of at most 16 KiB, without a byte order mark. Throws `UnreadableRows` for bytes that are not UTF-8. */
export async function* utf8Pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = decode(decoder, chunk.subarray(at, at + pieceBytes))
      if (piece !== '') yield piece
    }
  }
  const rest = decode(decoder)
  if (rest !== '') yield rest
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch (error) {
    throw new UnreadableRows('must be UTF-8 text; save the file in that encoding', { cause: error })
  }
}
