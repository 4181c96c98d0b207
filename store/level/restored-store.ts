/** Writes the rows of a snapshot into a new store without changes, including versions, counters and stamps. */
import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import { loadNativeCode } from '#config/own-files.ts'
import { DamagedFolder, type Bytes } from '../kv.ts'
import { sealPointer } from '../engine/codec.ts'
import type { SnapshotRow } from '../engine/snapshot.ts'
import { noNumber } from './group-stamps.ts'
import { KnownDamage } from './known-damage.ts'
import { ValueLog } from './value-log.ts'

const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const
const segmentBytes = 128 * 1024 * 1024
/** Rows of one batch. Their large values are synced together. */
const maxRows = 2000
const maxBytes = 4 * 1024 * 1024

/**
 * Writes into a folder that does not exist yet. Resolves when all files are on disk. Throws `DamagedFolder` if the files differ from the
 * written data.
 */
export async function writeRestoredStore(folder: string, rows: AsyncIterable<SnapshotRow>): Promise<void> {
  const records = join(folder, 'records')
  const values = join(folder, 'values')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  loadNativeCode('classic-level', folder)
  const db = new Level<Uint8Array, Uint8Array>(records, { ...encodings, errorIfExists: true })
  await db.open()
  const log = await ValueLog.open(values, { segmentBytes })
  try {
    let waiting: SnapshotRow[] = []
    let bytes = 0
    for await (const row of rows) {
      waiting.push(row)
      bytes += row.key.length + row.body.length
      if (waiting.length < maxRows && bytes < maxBytes) continue
      await writeRows(db, log, waiting)
      waiting = []
      bytes = 0
    }
    await writeRows(db, log, waiting)
  } finally {
    await log.close()
    await db.close()
  }
  for (const place of [records, values, folder]) await syncAll(place)
  const damage = await KnownDamage.look(folder)
  if (damage.length > 0) throw new DamagedFolder(folder, damage.map(({ sentence }) => sentence)) // prettier-ignore
}

async function writeRows(db: Level<Uint8Array, Uint8Array>, log: ValueLog, rows: readonly SnapshotRow[]): Promise<void> {
  const large = rows.filter(({ kind }) => kind === 'large')
  const pointers = large.length > 0 ? await log.append(large.map(({ key, body }) => ({ key, pieces: [body] }))) : []
  const batch = db.batch()
  let next = 0
  for (const { kind, key, version, body } of rows) {
    const pointer = kind === 'large' ? pointers[next++] : undefined
    const stored: Bytes = pointer ? sealPointer(version, pointer) : body
    batch.put(key, stored)
  }
  batch.del(noNumber)
  await batch.write({ sync: true })
}

/** Syncs the files of a folder and the folder itself. */
async function syncAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name))
  for (const path of [...files, folder]) {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}
