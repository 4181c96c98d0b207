/** What a backup of a data folder holds, as frames: a snapshot of the store, and the other files. */
import { randomUUID } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { notePastBackup, requirePastBackup, type EarlierBackup } from '#store/backup/past-backups.ts'
import { encodeFrame, jsonFrame, rowFrame } from '#store/backup/frames.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { formOf } from '#store/upgrade/store-form.ts'
import { storeFolder } from '../process/data-folder.ts'
import { compiledFolder } from '../process/use-compiled.js'

const pieceBytes = 64 * 1024
const nothing = Buffer.alloc(0)

/** Of this run or of this machine: they are made again. */
const leftOut: ReadonlySet<string> = new Set(['ballast', 'operator.json', 'last-backup.json'])

/**
 * One moment of the store; the files as they are then or later. Rows that have not changed since the earlier backup come without their
 * values. Throws `UnknownBackup` when that is none of this store.
 */
export async function backupFrames(
  kv: StoreKv,
  dataDir: string,
  { since, at }: { readonly since: EarlierBackup | undefined; readonly at: number },
): Promise<AsyncGenerator<Uint8Array>> {
  if (since) await requirePastBackup(kv, since.id)
  const id = randomUUID()
  await notePastBackup(kv, id, at)
  return gathered(framesOf(kv, dataDir, since?.until ?? 0n, id))
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
