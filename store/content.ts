/**
 * Stores message content in rows of at most 256 KiB. The write that accepts a small message contains its only row. Full rows of a larger
 * message become durable before that write. A marker lets a start after a crash find and remove unfinished rows.
 */
import { createHash, hash, type Hash } from 'node:crypto'
import { Change, decode, encode } from './change.ts'
import type { Database } from './database.ts'
import { joined, type Bytes } from './kv.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'

/** Location and hash of stored content. */
export interface ContentRef {
  readonly id: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly sha256: string
  readonly rows: number
}

export const contentRowBytes = 256 * 1024
const maxJoinedBytes = 16 * 1024

/** Key of a content row. */
export const contentRowKey = (organizationId: string, id: string, row: number): readonly Element[] => [organizationId, 'content', id, row]
/** Key of the marker for content that is still being written. */
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

/** Content that is being received. */
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

  /** `owner`: the sender, if it is not the organization. */
  constructor(database: Database, organizationId: string, id: string, owner = organizationId) {
    this.#database = database
    this.#organizationId = organizationId
    this.#id = id
    this.#owner = owner
  }

  /**
   * Appends bytes. The caller must not change them afterwards; with `isReused`, not before the promise resolves. If there is a promise,
   * wait for it before the next call. It rejects with the errors of `DraftRoom`.
   */
  write(chunk: Bytes, isReused = false): void | Promise<void> {
    this.#pending += chunk.length
    this.size += chunk.length
    const isKept = this.#pending < contentRowBytes
    this.#pieces.push(isKept && isReused ? Buffer.from(chunk) : chunk)
    if (!isKept) return this.#spill(isReused)
  }

  /** Adds the remaining content to the accepting write. Call it again for another write if that commit failed. */
  seal(change: Change): ContentRef {
    this.#uncount()
    const rest = this.#rest()
    const rows = this.#rows + (this.#pending > 0 || this.#rows === 0 ? 1 : 0)
    if (rows > this.#rows) change.set(contentRowKey(this.#organizationId, this.#id, this.#rows), rest)
    if (this.#rows > 0) change.delete(openContentKey(this.#organizationId, this.#id))
    return (this.#ref ??= { id: this.#id, size: this.size, sha256: this.#digest(rest), rows })
  }

  /** Returns the pieces of content that is still in memory, for an immediate delivery attempt. */
  inMemory(): readonly Bytes[] | undefined {
    return this.#rows > 0 ? undefined : this.#rest()
  }

  /** Reads the content from the start, before it is sealed. */
  async *read(): AsyncIterable<Bytes> {
    const rest = [...this.#pieces]
    for (let row = 0; row < this.#rows; row++) yield await readRow(this.#database, this.#organizationId, this.#id, row)
    yield* rest
  }

  /** Replaces the content before it is sealed. */
  async replace(content: Bytes): Promise<void> {
    await this.discard()
    this.#pending = 0
    this.#hash = undefined
    this.size = 0
    await this.write(content)
  }

  /** Releases memory and disk space. Removes stored rows unless the write with the sealed content was committed. */
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

  /** Returns content that is not stored. Joining a small message costs less than handling its pieces; copying a larger one costs more. */
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

/** Reads the content row by row, starting at `firstRow`. */
export async function* readContent(database: Database, organizationId: string, ref: ContentRef, firstRow = 0): AsyncIterable<Bytes> {
  for (let row = firstRow; row < ref.rows; row++) yield await readRow(database, organizationId, ref.id, row)
}

async function readRow(database: Database, organizationId: string, id: string, row: number): Promise<Bytes> {
  const entry = await database.kv.get(pack(contentRowKey(organizationId, id, row)))
  if (!entry) throw new Error(`content ${id} lacks row ${row}`)
  return entry.value
}

/** Reads the content in one piece after `prefix`. Each row can be freed once it is copied. */
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

/** Longer than any message takes to arrive, with any difference between the clocks of daemons. */
const longestDraftMs = 86_400_000

/**
 * Removes rows of content that was never accepted. Call it only at a start, before any content arrives, because it would remove unfinished
 * drafts. If other daemons share the store, it removes drafts older than a day. Returns the number of removed contents.
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
