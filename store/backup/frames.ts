/**
 * Content of a backup before compression and encryption: frames of `type (1) key length (4) body length (4) key body`. The first frame
 * identifies the snapshot, and the last one has the totals, which reveal a truncated backup.
 */
import type { SnapshotRow } from '../engine/snapshot.ts'
import type { Bytes } from '../kv.ts'
import type { StoreForm } from '../upgrade/store-form.ts'

/** A file of the data folder is a `file` frame with its path as key and its mode in the body, followed by its content in `piece` frames. */
export interface Frame {
  readonly type: FrameType
  readonly key: Bytes
  readonly body: Bytes
}

/** `broken`, with a sentence as body, ends a snapshot that its daemon cannot complete. Finished backups do not contain it. */
export const frameTypes = ['begin', 'inline', 'large', 'same', 'file', 'piece', 'end', 'broken'] as const
export type FrameType = (typeof frameTypes)[number]

/** Identifies the snapshot of the backup. */
export interface Begin {
  /** Version of the last write in the backup. */
  readonly version: string
  /** Form of the store. Absent in backups made before 2026-11-28. */
  readonly form?: StoreForm
  /** Id of the backup in the store. Absent in backups made before 2026-11-28. */
  readonly id?: string
  /** A text that the master key has sealed, and that no other key opens. Absent in backups made before 2026-11-30. */
  readonly sealed?: string
  /** Sentence about a problem in the data folder that does not affect the backup. */
  readonly warning?: string
}

export interface End {
  readonly rows: number
  readonly files: number
}

/** The bytes are not a complete backup. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged'
}

/** The snapshot cannot be completed. The message gives the reason. */
export class SnapshotBroken extends Error {
  override readonly name = 'SnapshotBroken'
}

const headBytes = 9
const versionBytes = 8
const maxFrameBytes = 512 * 1024 * 1024
const nothing = Buffer.alloc(0)

export function encodeFrame({ type, key, body }: Frame): Buffer {
  const head = Buffer.allocUnsafe(headBytes)
  head[0] = frameTypes.indexOf(type)
  head.writeUInt32BE(key.length, 1)
  head.writeUInt32BE(body.length, 5)
  return Buffer.concat([head, key, body])
}

export const jsonFrame = (type: 'begin' | 'end', value: Begin | End): Buffer =>
  encodeFrame({ type, key: nothing, body: Buffer.from(JSON.stringify(value)) })

/** Adds the version to the body if the stored value does not contain it. */
export function rowFrame({ kind, key, version, body }: SnapshotRow): Buffer {
  if (kind !== 'large') return encodeFrame({ type: kind, key, body })
  const number = Buffer.alloc(versionBytes)
  number.writeBigUInt64BE(version)
  return encodeFrame({ type: kind, key, body: Buffer.concat([number, body]) })
}

/** Returns the row of a frame, or undefined for other frames. Throws `BackupDamaged` for a row without a version. */
export function rowOf({ type, key, body }: Frame): SnapshotRow | undefined {
  if (type === 'inline' || type === 'same') return { kind: type, key, version: 0n, body }
  if (type !== 'large') return undefined
  if (body.length < versionBytes) throw new BackupDamaged('The backup is damaged.')
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return { kind: type, key, version: bytes.readBigUInt64BE(0), body: bytes.subarray(versionBytes) }
}

/**
 * Keeps one frame in memory. Throws `BackupDamaged` if the bytes are not frames or lack the last frame, and `SnapshotBroken` for a
 * `broken` frame.
 */
export async function* readFrames(bytes: AsyncIterable<Bytes>): AsyncGenerator<Frame> {
  const reader = new ByteReader(bytes)
  for (;;) {
    const head = await reader.read(headBytes)
    const type = frameTypes[head[0] ?? 255]
    const [keyLength, bodyLength] = [head.readUInt32BE(1), head.readUInt32BE(5)]
    if (type === undefined || keyLength + bodyLength > maxFrameBytes) throw new BackupDamaged('The backup is damaged.')
    const key = await reader.read(keyLength)
    const frame = { type, key, body: await reader.read(bodyLength) }
    if (type === 'broken') throw new SnapshotBroken(frame.body.toString('utf8'))
    yield frame
    if (type !== 'end') continue
    if (await reader.isMore()) throw new BackupDamaged('The backup continues after its last frame: it is damaged.')
    return
  }
}

/** Reads a given number of bytes from chunks of any size. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Bytes>
  #rest: Buffer[] = []
  #size = 0

  constructor(bytes: AsyncIterable<Bytes>) {
    this.#chunks = bytes[Symbol.asyncIterator]()
  }

  async read(length: number): Promise<Buffer> {
    const found = await this.readUpTo(length)
    if (found.length < length) throw new BackupDamaged('The backup is truncated: its end is missing.')
    return found
  }

  /** Returns fewer bytes only at the end. */
  async readUpTo(length: number): Promise<Buffer> {
    while (this.#size < length && (await this.#more()));
    const all = this.#rest.length === 1 && this.#rest[0] ? this.#rest[0] : Buffer.concat(this.#rest)
    const found = all.subarray(0, length)
    this.#rest = all.length > length ? [all.subarray(length)] : []
    this.#size = all.length - found.length
    return found
  }

  async isMore(): Promise<boolean> {
    return this.#size > 0 || this.#more()
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (done === true) return false
    if (value.length > 0) {
      this.#rest.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      this.#size += value.length
    }
    return value.length > 0 || this.#more()
  }
}
