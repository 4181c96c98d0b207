/** What a backup of a data folder holds, as frames: a snapshot of the store, and the other files. */
import { randomUUID } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { notePastBackup, requirePastBackup, type EarlierBackup } from '#store/backup/past-backups.ts'
import { encodeFrame, jsonFrame, rowFrame } from '#store/backup/frames.ts'
import type { Rest, StoreKv } from '#store/engine/store-kv.ts'
import { StoreDamaged } from '#store/kv.ts'
import { formOf } from '#store/upgrade/store-form.ts'
import { storeFolder } from '../process/data-folder.ts'
import { compiledFolder } from '../process/use-compiled.js'

const pieceBytes = 64 * 1024
const nothing = Buffer.alloc(0)

/** Of this run or of this machine: they are made again. */
const leftOut: ReadonlySet<string> = new Set(['ballast', 'operator.json', 'last-backup.json'])

interface Wanted {
  /** Rows that have not changed since this backup come without their values. */
  readonly since: EarlierBackup | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Between steps of the check that comes first. */
  readonly rest?: Rest
}

/**
 * One moment of the store; the files as they are then or later. A damaged store ends in a frame that says so. Throws `UnknownBackup` when
 * the earlier backup is none of this store.
 */
export async function backupFrames(
  kv: StoreKv,
  dataDir: string,
  { since, at, rest = () => {} }: Wanted,
): Promise<AsyncGenerator<Uint8Array>> {
  if (since) await requirePastBackup(kv, since.id)
  return gathered(wholeFrames(kv, rest, () => noted(kv, dataDir, since, at)))
}

/** The frames of a store that is whole. */
async function* wholeFrames(kv: StoreKv, rest: Rest, frames: () => AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    const [damage] = await kv.check(rest)
    if (damage) throw new StoreDamaged(`The store is damaged: ${damage.sentence}`)
    yield* frames()
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    const advice = 'No backup was made, and earlier ones are as they were. "postern verify" names all damage; restore the last good backup.'
    yield encodeFrame({ type: 'broken', key: nothing, body: Buffer.from(`${error.message} ${advice}`) })
  }
}

async function* noted(kv: StoreKv, dataDir: string, since: EarlierBackup | undefined, at: number): AsyncGenerator<Buffer> {
  const id = randomUUID()
  await notePastBackup(kv, id, at)
  yield* framesOf(kv, dataDir, since?.until ?? 0n, id)
}

async function* framesOf(kv: StoreKv, dataDir: string, since: bigint, id: string): AsyncGenerator<Buffer> {
  await using snapshot = await kv.snapshot(since)
  yield jsonFrame('begin', { version: String(snapshot.version), form: await formOf(kv), id })
  let [rows, files] = [0, 0]
  for await (const row of snapshot.rows) {
    yield rowFrame(row)
    rows++
  }
  for await (const path of filesIn(dataDir, dataDir)) {
    const file = await open(path, 'r').catch(() => undefined) // gone since
    if (!file) continue
    try {
      const { mode } = await file.stat()
      yield encodeFrame({
        type: 'file',
        key: Buffer.from(relative(dataDir, path)),
        body: Buffer.from(JSON.stringify({ mode: mode & 0o777 })),
      })
      files++
      for (let piece = await nextPiece(file); piece.length > 0; piece = await nextPiece(file))
        yield encodeFrame({ type: 'piece', key: nothing, body: piece })
    } finally {
      await file.close()
    }
  }
  yield jsonFrame('end', { rows, files })
}

async function nextPiece(file: Awaited<ReturnType<typeof open>>): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes)
  return buffer.subarray(0, bytesRead)
}

async function* filesIn(folder: string, dataDir: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === storeFolder(dataDir) || path === compiledFolder(dataDir)) continue
    if (entry.isDirectory()) yield* filesIn(path, dataDir)
    else if (entry.isFile() && !entry.name.endsWith('.tmp') && !(folder === dataDir && leftOut.has(entry.name))) yield path
  }
}

/** Small frames together, so that each is not a write of its own. */
async function* gathered(frames: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const frame of frames) {
    waiting.push(frame)
    size += frame.length
    if (size < pieceBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  yield Buffer.concat(waiting)
}
