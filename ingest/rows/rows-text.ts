/** Shared code of the row readers: decoding bytes to text, and the error for unreadable files. */

/** The file has no readable rows. The message gives the problem and its place. */
export class UnreadableRows extends Error {
  override readonly name = 'UnreadableRows'
}

/** Maximum length of a row in UTF-16 units. A longer row usually means an unclosed quote or bracket. */
export const maxRowUnits = 65_536

/** Number of bytes decoded at a time. */
const pieceBytes = 16_384

/** Decodes UTF-8 in pieces of at most 16 KiB, without a byte order mark. Throws `UnreadableRows` if the bytes are not UTF-8. */
export const utf8Pieces = (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> => decodedPieces(bytes, 'utf-8')

async function* decodedPieces(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const piece = decode(decoder, chunk.subarray(at, at + pieceBytes))
      if (piece !== '') yield piece
    }
  }
  const rest = decode(decoder)
  if (rest !== '') yield rest
}

/** Magic numbers of ZIP, which includes spreadsheet files, and of gzip. */
const archives: readonly (readonly [readonly number[], string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'is a zip archive or a spreadsheet; unpack it, or save it as CSV'],
  [[0x1f, 0x8b], 'is compressed by gzip; unpack it'],
]

/**
 * Decodes like `utf8Pieces`, and also UTF-16, as spreadsheets write it, if the first bytes show it. Throws `UnreadableRows` for archives
 * and for bytes that are invalid in the encoding.
 */
export async function* textPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const source = bytes[Symbol.asyncIterator]()
  try {
    let head: Uint8Array = new Uint8Array()
    while (head.length < 4) {
      const next = await source.next()
      if (next.done) break
      head = Buffer.concat([head, next.value])
    }
    const archive = archives.find(([magic]) => magic.every((byte, i) => head[i] === byte))
    if (archive) throw new UnreadableRows(archive[1])
    yield* decodedPieces(restOf(head, source), encodingOf(head))
  } finally {
    await source.return?.()
  }
}

async function* restOf(head: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** Recognizes the encoding by the byte order mark, or by the zero octet of the first character. */
function encodingOf([first, second]: Uint8Array): Encoding {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && second !== undefined) ? 'utf-16be' : 'utf-8'
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch (error) {
    throw new UnreadableRows(`must be ${decoder.encoding.toUpperCase()} text; save the file in that encoding`, { cause: error })
  }
}
