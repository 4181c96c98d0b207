/** Stores the time of the latest complete backup in a file of the data folder. The command writes it; the daemon shows it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveFileToOwnerOf } from './ownership.ts'
import { placeWhole } from './whole-file.ts'

const fileName = 'last-backup.json'
const lastBackupFile = (dataDir: string): string => join(dataDir, fileName)

/** Writes the time. `at`: the moment of the snapshot, in milliseconds since the epoch. */
export async function writeLastBackup(dataDir: string, at: number): Promise<void> {
  await placeWhole(lastBackupFile(dataDir), [Buffer.from(`${JSON.stringify({ at })}\n`)])
  await giveFileToOwnerOf(dataDir, fileName)
}

/** Returns the time of the latest backup; undefined without one. */
export async function lastBackupAt(dataDir: string): Promise<number | undefined> {
  try {
    const { at } = JSON.parse(await readFile(lastBackupFile(dataDir), 'utf8')) as { readonly at?: unknown }
    return typeof at === 'number' ? at : undefined
  } catch {
    return undefined
  }
}
