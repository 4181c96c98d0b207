/**
 * Message content as rows of at most 256 KiB. A small message becomes one row of the write that accepts it; of a larger
 * one the full rows are durable before that write, under a marker by which a crash's leftovers are found and removed.
 */
import { createHash, hash, type Hash } from 'node:crypto'
import { Change, decode, encode } from './change.ts'
import type { Database } from './database.ts'
import { joined, type Bytes } from './kv.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** Where content stands, and what it must hash to. */
export interface ContentRef {
  readonly id: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly sha256: string
  readonly rows: number
}

export const contentRowBytes = 256 * 1024
const maxJoinedBytes = 16 * 1024

/** Where a row of content stands. */
export const contentRowKey = (organizationId: string, id: string, row: number): readonly Element[] => [organizationId, 'content', id, row]
/** The marker of content that is still being written. */
export const openContentKey = (organizationId: string, id: string): readonly Element[] => globalKey('content.open', organizationId, id)

/** Divides the pieces into full rows without a copy. `rest` is shorter than a row. */
function inRows(pieces: readonly Bytes[]): { readonly rows: readonly Bytes[][]; readonly rest: Bytes[] } {
  const rows: Bytes[][] = []
  let row: Bytes[] = []
  let room = contentRowBytes
  for (const piece of pieces) {
    let at = 0
    for (; piece.length - at >= room; room = contentRowBytes) {
      rows.push([...row, piece.subarray(at, at + room)])
      row = []
      at += room
    }
    if (at === piece.length) continue
    row.push(piece.subarray(at))
    room -= piece.length - at
  }
  return { rows, rest: row }
}

/** Content on its way in. */
export class Draft {
  readonly #database: Database
  readonly #organizationId: string
  readonly #id: string
  readonly #owner: string
  #pieces: Bytes[] = []
  #pending = 0
  #rows = 0
  /** Bytes that `DraftRoom` counts. */
  #counted = 0
  #hash: Hash | undefined
  #ref: ContentRef | undefined
  size = 0

  /** `owner`: who sends it, if that is not the organization. */
  constructor(database: Database, organizationId: string, id: string, owner = organizationId) {
    this.#database = database
    this.#organizationId = organizationId
    this.#id = id
    this.#owner = owner
  }

  /**
   * Takes the next bytes, which must not change afterwards, or with `isReused` not before the promise resolves. Wait for the promise, if
   * there is one, before the next call. It rejects as `DraftRoom` throws.
   */
  write(chunk: Bytes, isReused = false): void | Promise<void> {
    this.#pending += chunk.length
    this.size += chunk.length
    const isKept = this.#pending < contentRowBytes
    this.#pieces.push(isKept && isReused ? Buffer.from(chunk) : chunk)
    if (!isKept) return this.#spill(isReused)
  }

  /** Adds the rest of the content to the write that makes it count; again to another one, when that did not happen. */
  seal(change: Change): ContentRef {
    this.#uncount()
    const rest = this.#rest()
    const rows = this.#rows + (this.#pending > 0 || this.#rows === 0 ? 1 : 0)
    if (rows > this.#rows) change.set(contentRowKey(this.#organizationId, this.#id, this.#rows), rest)
    if (this.#rows > 0) change.delete(openContentKey(this.#organizationId, this.#id))
    return (this.#ref ??= { id: this.#id, size: this.size, sha256: this.#digest(rest), rows })
  }

  /** The content while it is still in memory, in pieces, for a delivery that follows at once. */
  inMemory(): readonly Bytes[] | undefined {
    return this.#rows > 0 ? undefined : this.#rest()
  }

  /** What was written so far, from the start; for content that is read again and then discarded. */
  async *read(): AsyncIterable<Bytes> {
    const rest = [...this.#pieces]
    for (let row = 0; row < this.#rows; row++) yield await readRow(this.#database, this.#organizationId, this.#id, row)
    yield* rest
  }

  /** Puts other content in the place of what was written so far; only before it is sealed. */
  async replace(content: Bytes): Promise<void> {
    await this.discard()
    this.#pending = 0
    this.#hash = undefined
    this.size = 0
    await this.write(content)
  }

  /** Forgets everything. Rows already in the store are removed, unless the write with the sealed content was committed. */
  async discard(committed = false): Promise<void> {
    this.#pieces = []
    this.#uncount()
    if (this.#rows === 0 || (this.#ref && committed)) return
    await removeRows(this.#database, this.#organizationId, this.#id)
    this.#database.draftRoom.removed(this.#rows * contentRowBytes)
    this.#rows = 0
  }

  #uncount(): void {
    this.#database.draftRoom.release(this.#owner, this.#counted)
    this.#counted = 0
  }

  /** What is not in the store yet. Joining a small message costs less than handling its pieces, copying a larger one more. */
  #rest(): readonly Bytes[] {
    if (this.#pending <= maxJoinedBytes && this.#pieces.length !== 1) this.#pieces = [joined(this.#pieces)]
    return this.#pieces
  }

  #digest(rest: readonly Bytes[]): string {
    const [only] = rest
    if (!this.#hash && rest.length === 1 && only) return hash('sha256', only)
    const digest = this.#hash ?? createHash('sha256')
    for (const piece of rest) digest.update(piece)
    return digest.digest('hex')
  }

  async #spill(isReused: boolean): Promise<void> {
    const bytes = this.#pending - (this.#pending % contentRowBytes)
    this.#database.draftRoom.take(this.#owner, bytes)
    this.#counted += bytes
    const { rows, rest } = inRows(this.#pieces)
    const change = new Change()
    if (this.#rows === 0) change.set(openContentKey(this.#organizationId, this.#id), encode(Date.now()))
    this.#hash ??= createHash('sha256')
    for (const row of rows) {
      change.set(contentRowKey(this.#organizationId, this.#id, this.#rows++), row)
      for (const piece of row) this.#hash.update(piece)
    }
    this.#pieces = isReused && rest.length > 0 ? [Buffer.concat(rest)] : rest
    this.#pending -= bytes
    await this.#database.commit(change)
  }
}

/** The content row by row, from the one with this number on. */
export async function* readContent(database: Database, organizationId: string, ref: ContentRef, firstRow = 0): AsyncIterable<Bytes> {
  for (let row = firstRow; row < ref.rows; row++) yield await readRow(database, organizationId, ref.id, row)
}

async function readRow(database: Database, organizationId: string, id: string, row: number): Promise<Bytes> {
  const entry = await database.kv.get(pack(contentRowKey(organizationId, id, row)))
  if (!entry) throw new Error(`content ${id} lacks row ${row}`)
  return entry.value
}

/** The content in one piece, behind the prefix. Each row can be freed once it is copied. */
export async function readWholeContent(database: Database, organizationId: string, ref: ContentRef, prefix = ''): Promise<Bytes> {
  const first = Buffer.from(prefix)
  const whole = Buffer.allocUnsafeSlow(first.length + ref.size)
  let at = first.copy(whole)
  for await (const row of readContent(database, organizationId, ref)) {
    whole.set(row, at)
    at += row.length
  }
  if (at !== whole.length) throw new Error(`content ${ref.id} has ${at - first.length} octets in place of ${ref.size}`)
  return whole
}

/** Longer than any message is on its way in, whatever clocks of daemons say. */
const longestDraftMs = 86_400_000

/**
 * Removes the rows of content whose acceptance never came. Only for the start after a crash, before anything is taken in: it would
 * remove drafts that are still being written. Beside other daemons, those that have been left for a day. Returns how many contents went.
 */
export async function sweepAbandonedContent(database: Database): Promise<number> {
  let swept = 0
  const begunBefore = database.daemons.isAlone ? Infinity : Date.now() - longestDraftMs
  for await (const { key, value } of database.kv.range(within(globalKey('content.open')))) {
    if (value.length > 0 && decode<number>(value) > begunBefore) continue
    const [, , organizationId, id] = unpack(key)
    await removeRows(database, String(organizationId), String(id))
    swept++
  }
  return swept
}

async function removeRows(database: Database, organizationId: string, id: string): Promise<void> {
  const change = new Change()
  const rows = database.kv.range({ ...within([organizationId, 'content', id]), keysOnly: true })
  for await (const { key } of rows) change.deletes.push(key)
  await database.commit(change.delete(openContentKey(organizationId, id)))
}
