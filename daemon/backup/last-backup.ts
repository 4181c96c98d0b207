/**
 * Stores the time of the latest complete backup in a file of the data folder. The command writes it; the daemon shows it. At a store in a
 * database, each daemon copies its time to a row, because any machine can make the backups.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { giveFileToOwnerOf } from './ownership.ts'
import { placeWhole } from './whole-file.ts'

const fileName = 'last-backup.json'
const lastBackupFile = (dataDir: string): string => join(dataDir, fileName)

/** Writes the time. `at`: the moment of the snapshot, in milliseconds since the epoch. */
export async function writeLastBackup(dataDir: string, at: number): Promise<void> {
  await placeWhole(lastBackupFile(dataDir), [Buffer.from(`${JSON.stringify({ at })}\n`)])
  await giveFileToOwnerOf(dataDir, fileName)
}

/** Returns the time of the latest backup by this machine; undefined without one. */
export async function lastBackupAt(dataDir: string): Promise<number | undefined> {
  try {
    const { at } = JSON.parse(await readFile(lastBackupFile(dataDir), 'utf8')) as { readonly at?: unknown }
    return typeof at === 'number' ? at : undefined
  } catch {
    return undefined
  }
}

const lastBackupKey = globalKey('backup.last')

/** Returns the time of the latest backup by any machine at a shared store; undefined without one. */
export async function sharedBackupAt({ kv }: Pick<Database, 'kv'>): Promise<number | undefined> {
  const row = await kv.get(pack(lastBackupKey))
  return row && decode<number>(row.value)
}

/** Writes the time for all daemons, unless a later one is stored. */
export async function shareBackup(database: Pick<Database, 'kv' | 'commit'>, at: number): Promise<void> {
  const row = await database.kv.get(pack(lastBackupKey))
  if (row && decode<number>(row.value) >= at) return
  // a conflict with another daemon is repeated by the next check
  await database.commit(new Change().check(lastBackupKey, row?.version).set(lastBackupKey, encode(at)))
}

/** Returns the time of the latest backup that this machine or, at a shared store, another one made; undefined without one. */
export async function latestBackupAt(dataDir: string, database: Pick<Database, 'kv'>): Promise<number | undefined> {
  const times = [await lastBackupAt(dataDir), await sharedBackupAt(database)].filter((at) => at !== undefined)
  return times.length > 0 ? Math.max(...times) : undefined
}
