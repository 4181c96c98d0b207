/**
 * Large values in append-only segment files, because LevelDB would write them several times. An entry is `key length (4) value length (4)
 * CRC-32 of the value (4) key value`. It is valid only if a row of LevelDB points to it.
 */
import { constants, readSync } from 'node:fs'
import { mkdir, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { lengthOf, StoreDamaged, type Bytes } from '../kv.ts'
import type { Pointer } from '../engine/codec.ts'

const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants
/** With O_DSYNC, a write and its sync are one task of the thread pool. On macOS, only `datasync` empties the cache of the disk. */
const isSyncedByWrites = process.platform === 'linux'
const segmentFlags = O_WRONLY | O_CREAT | O_EXCL | (isSyncedByWrites ? O_DSYNC : 0)
const entryHeaderBytes = 12
const readAtOnceBytes = 64 * 1024
/** Size of one read during a walk through a segment. */
const windowBytes = 64 * 1024
export const segmentName = (segment: number): string => `${String(segment).padStart(8, '0')}.values`

/** An entry of a segment, for the collector. */
export interface LogEntry {
  readonly key: Bytes
  readonly pointer: Pointer
}

export interface LogValue {
  readonly key: Bytes
  readonly pieces: readonly Bytes[]
}

/** Locations of values that are not written yet. */
export interface PlacedValues {
  readonly pointers: readonly Pointer[]
  /** Resolves when the values are on disk. */
  readonly write: () => Promise<void>
}

export interface ValueLogOptions {
  /** A segment of at least this size is closed, and a new one starts. */
  readonly segmentBytes: number
}

export class ValueLog {
  readonly #folder: string
  readonly #options: ValueLogOptions
  readonly #readers = new Map<number, Promise<FileHandle>>()
  #current: { segment: number; file: FileHandle; size: number } | undefined
  #last: number
  /** Newest segment of this process, set earlier than its file exists. */
  #newest: number | undefined

  private constructor(folder: string, last: number, options: ValueLogOptions) {
    this.#folder = folder
    this.#last = last
    this.#options = options
  }

  static async open(folder: string, options: ValueLogOptions): Promise<ValueLog> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const numbers = (await readdir(folder)).filter((name) => name.endsWith('.values')).map((name) => Number.parseInt(name, 10))
    return new ValueLog(folder, Math.max(0, ...numbers), options)
  }

  /** Appends the values. Resolves with their locations when they are on disk. Calls must not overlap. */
  async append(values: readonly LogValue[]): Promise<readonly Pointer[]> {
    const { pointers, write } = await this.place(values)
    await write()
    return pointers
  }

  /** Returns the future locations of the values. Write them before the next call. */
  async place(values: readonly LogValue[]): Promise<PlacedValues> {
    const current = await this.#segment()
    const pointers: Pointer[] = []
    const written: Bytes[] = []
    let offset = current.size
    for (const { key, pieces } of values) {
      const length = lengthOf(pieces)
      const crc = pieces.reduce((before, piece) => crc32(piece, before), 0)
      written.push(entryHeader(key, length, crc), key, ...pieces)
      pointers.push({ segment: current.segment, offset: offset + entryHeaderBytes + key.length, length, crc })
      offset += entryHeaderBytes + key.length + length
    }
    const write = async (): Promise<void> => {
      await writeAll(current.file, written, current.size)
      if (!isSyncedByWrites) await current.file.datasync()
      current.size = offset
    }
    return { pointers, write }
  }

  /** Reads one value and verifies it. `isCold`: it is probably not in memory. Throws `StoreDamaged` for a damaged or missing value. */
  async read(pointer: Pointer, isCold = false): Promise<Bytes> {
    const { segment, offset, length, crc } = pointer
    const value = Buffer.allocUnsafe(length)
    let cause: unknown
    try {
      const file = await this.#reader(segment)
      // a small value is usually in the page cache, and a thread would cost ten times the read
      const bytesRead =
        length <= readAtOnceBytes && !isCold
          ? readSync(file.fd, value, 0, length, offset)
          : (await file.read(value, 0, length, offset)).bytesRead
      if (bytesRead === length && crc32(value) === crc) return value
    } catch (error) {
      cause = error
    }
    throw new StoreDamaged(`The value log is damaged: segment ${segment}, offset ${offset}. Restore a backup.`, { cause })
  }

  /** Returns the segments that are no longer written to, oldest first. */
  async sealed(): Promise<number[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.values'))
    return names
      .map((name) => Number.parseInt(name, 10))
      .filter((segment) => segment !== this.#newest)
      .toSorted((a, b) => a - b)
  }

  /** Returns the entries of a sealed segment without their values, up to a torn end. */
  async *entries(segment: number): AsyncIterable<LogEntry> {
    const file = await this.#reader(segment)
    const { size } = await file.stat()
    let window = Buffer.alloc(0)
    let windowStart = 0
    const bytesAt = async (at: number, length: number): Promise<Buffer> => {
      if (at < windowStart || at + length > windowStart + window.length) {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(Math.max(windowBytes, length)), { position: at })
        window = buffer.subarray(0, bytesRead)
        windowStart = at
      }
      return window.subarray(at - windowStart, at - windowStart + length)
    }
    let at = 0
    while (at + entryHeaderBytes <= size) {
      const head = await bytesAt(at, entryHeaderBytes)
      const [keyLength, length, crc] = [head.readUInt32BE(0), head.readUInt32BE(4), head.readUInt32BE(8)]
      const offset = at + entryHeaderBytes + keyLength
      if (keyLength === 0 || offset + length > size) return
      yield { key: await bytesAt(at + entryHeaderBytes, keyLength), pointer: { segment, offset, length, crc } }
      at = offset + length
    }
  }

  /** Returns the size of a segment in bytes. */
  async size(segment: number): Promise<number> {
    const file = await this.#reader(segment)
    return (await file.stat()).size
  }

  /** Removes a segment that no row points to. Reads in progress still complete. */
  async drop(segment: number): Promise<void> {
    await rm(join(this.#folder, segmentName(segment)))
    const reader = this.#readers.get(segment)
    this.#readers.delete(segment)
    await (await reader)?.close()
  }

  async close(): Promise<void> {
    const readers = [...this.#readers.values()]
    this.#readers.clear()
    for (const file of [this.#current?.file, ...(await Promise.all(readers))]) await file?.close()
    this.#current = undefined
    this.#newest = undefined
  }

  async #segment(): Promise<{ segment: number; file: FileHandle; size: number }> {
    if (this.#current && this.#current.size < this.#options.segmentBytes) return this.#current
    await this.#current?.file.close()
    const segment = (this.#newest = ++this.#last)
    const file = await open(join(this.#folder, segmentName(segment)), segmentFlags, 0o600)
    await syncFolder(this.#folder)
    return (this.#current = { segment, file, size: 0 })
  }

  #reader(segment: number): Promise<FileHandle> {
    let reader = this.#readers.get(segment)
    if (reader) return reader
    reader = open(join(this.#folder, segmentName(segment)), 'r')
    this.#readers.set(segment, reader)
    reader.catch(() => this.#readers.delete(segment)) // makes the next read try again
    return reader
  }
}

function entryHeader(key: Bytes, length: number, crc: number): Bytes {
  const head = Buffer.allocUnsafe(entryHeaderBytes)
  head.writeUInt32BE(key.length, 0)
  head.writeUInt32BE(length, 4)
  head.writeUInt32BE(crc, 8)
  return head
}

/** `writev` may write less than asked for, and takes at most 1,024 pieces. */
async function writeAll(file: FileHandle, pieces: readonly Bytes[], start: number): Promise<void> {
  let position = start
  for (let i = 0; i < pieces.length; i += 1023) {
    const some = pieces.slice(i, i + 1023)
    const wanted = some.reduce((sum, piece) => sum + piece.length, 0)
    let { bytesWritten: written } = await file.writev(some, position)
    const rest = written < wanted ? Buffer.concat(some) : undefined
    while (rest && written < wanted) written += (await file.write(rest, written, wanted - written, position + written)).bytesWritten
    position += wanted
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
