/**
 * Rows and large values of a group are written to disk at the same time. After a crash, the rows of the last group may exist without their
 * values. No write of that group was acknowledged, and reads never saw its rows. The group is cut off LevelDB's log before LevelDB reads
 * it.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { kindOf, kinds, pointerOf, type Pointer } from '../engine/codec.ts'
import type { Bytes } from '../kv.ts'
import { FieldReader } from './files/field-reader.ts'
import { blockBytes, partsIn } from './files/log-records.ts'
import { isMissing } from './files/manifest.ts'
import { segmentName } from './value-log.ts'

/** A disk writes a sector whole or not at all. */
const sectorBytes = 512
/** Sequence number (8) and number of operations (4) of a batch. */
const batchHeaderBytes = 12
const putType = 1

interface Record {
  /** Offset of the record in the log. */
  readonly start: number
  readonly batch: Buffer
}

interface TornGroup {
  readonly log: string
  readonly start: number
}

/** Returns the last group of a store if any of its values is torn. If the store is in use, the group may still become whole. */
export async function tornGroupIn(folder: string): Promise<TornGroup | undefined> {
  const records = join(folder, 'records')
  const names = await readdir(records).catch(() => [])
  const [newest] = names
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .toReversed()
  if (newest === undefined) return undefined
  const log = join(records, newest)
  const last = await lastRecord(log)
  return last && (await isAnyTorn(folder, pointersIn(last.batch))) ? { log, start: last.start } : undefined
}

/** Removes the group from the log. The store must be closed. */
export async function cutOff({ log, start }: TornGroup): Promise<void> {
  await using file = await open(log, 'r+')
  await file.truncate(start)
  await file.sync()
}

/** Returns whether a value is incomplete on disk. */
export async function isAnyTorn(folder: string, pointers: readonly Pointer[]): Promise<boolean> {
  for (const pointer of pointers) if (await isTorn(folder, pointer)) return true
  return false
}

/** Returns the last record of the log. Undefined if a later record was started, because that happens only after the last group is whole. */
async function lastRecord(path: string): Promise<Record | undefined> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  /** Parts of the last record, in reverse order. */
  const parts: Buffer[] = []
  for (let start = size - (size % blockBytes || blockBytes); start >= 0; start -= blockBytes) {
    const block = Buffer.alloc(Math.min(blockBytes, size - start))
    await file.read(block, 0, block.length, start)
    for (const part of [...partsIn(block)].toReversed()) {
      if ('gapAt' in part) return undefined
      const isEnd = part.type === 'whole' || part.type === 'last'
      if (isEnd !== (parts.length === 0)) return undefined
      parts.push(part.data)
      if (part.type === 'whole' || part.type === 'first') return { start: start + part.at, batch: Buffer.concat(parts.toReversed()) }
    }
  }
  return undefined
}

/** Returns the pointers to large values that a batch writes. The format is that of LevelDB's `write_batch.cc`. */
function pointersIn(batch: Buffer): Pointer[] {
  const pointers: Pointer[] = []
  const fields = new FieldReader(batch.subarray(batchHeaderBytes))
  while (fields.left > 0) {
    const isPut = fields.octet() === putType
    fields.counted() // the key
    const stored: Bytes | undefined = isPut ? fields.counted() : undefined
    if (stored && kindOf(stored) === kinds.pointer) pointers.push(pointerOf(stored))
  }
  return pointers
}

/**
 * Octets missing on disk are beyond the end of the file, or zeros. A value with any other difference is damaged, and its readers report it.
 */
async function isTorn(folder: string, { segment, offset, length, crc }: Pointer): Promise<boolean> {
  const value = Buffer.alloc(length)
  try {
    await using file = await open(join(folder, 'values', segmentName(segment)), 'r')
    const { bytesRead } = await file.read(value, 0, length, offset)
    return bytesRead < length || (crc32(value) !== crc && hasEmptySector(value, offset))
  } catch (error) {
    if (isMissing(error)) return false // the file becomes durable earlier than its first value
    throw error
  }
}

function hasEmptySector(value: Buffer, offset: number): boolean {
  for (let at = -(offset % sectorBytes); at < value.length; at += sectorBytes)
    if (value.subarray(Math.max(at, 0), at + sectorBytes).every((octet) => octet === 0)) return true
  return false
}
