/** `postern migrate`: copies a store between a data folder and a database, either way, and compares the copy with what it was made of. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { digestRows, type RowDigest } from '#store/engine/row-digest.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { writeRestoredStore } from '#store/level/restored-store.ts'
import { isPostgresAddress } from '#store/postgresql/address.ts'
import { giveToOwnerOf } from '../backup/ownership.ts'
import { syncFolder } from '../backup/whole-file.ts'
import { hasStore, storeFolder } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { objectsOf, openStore, requireStore } from '../open-store.ts'
import { StartRefused } from '../process/start-refused.ts'
import type { MigrateWords } from './command-line.ts'

type StoreSettings = Config['store']

/**
 * Large values of a database stand where the settings say. Throws `StartRefused` or `StoreUnavailable`; what was there before is there
 * then.
 */
export async function migrate(
  { from, to, replace }: MigrateWords,
  settings: StoreSettings,
  out: { write(text: string): unknown },
): Promise<ExitCode> {
  if (isPostgresAddress(from) ? from === to : resolve(from) === resolve(to))
    throw new StartRefused('--from and --to are the same store.', exitCodes.usage)
  await requireStore(placeOf(from, settings))
  await using source = await openStore(placeOf(from, settings))
  if (isPostgresAddress(to)) await copyIntoDatabase(source, to, replace, settings)
  else await copyIntoFolder(source, to)
  const expected = await digestOf(source)
  await using copy = await openStore(placeOf(to, settings))
  const found = await digestOf(copy)
  if (found.digest !== expected.digest)
    throw new StartRefused(
      `The copy differs: ${found.rows} rows in place of ${expected.rows}. Run the command again with --replace.`,
      exitCodes.failed,
    )
  out.write(`Copied ${found.rows} rows; the copy is the same (SHA-256 ${found.digest}).\n`)
  return exitCodes.ok
}

const placeOf = (place: string, settings: StoreSettings): Parameters<typeof openStore>[0] =>
  isPostgresAddress(place)
    ? { dataDir: '', store: { ...settings, address: place } }
    : { dataDir: place, store: { ...settings, address: null } }

async function copyIntoDatabase(source: StoreKv, address: string, mayReplace: boolean, settings: StoreSettings): Promise<void> {
  const { writeRestoredDatabase } = await import('#store/postgresql/restored-store.ts')
  await using snapshot = await source.snapshot()
  await writeRestoredDatabase(address, snapshot.rows, mayReplace, await objectsOf(settings))
}

/** Keys and certificates of the folder stay as they are. */
async function copyIntoFolder(source: StoreKv, dataDir: string): Promise<void> {
  if (await hasStore(dataDir))
    throw new StartRefused(`${dataDir} holds a store already; move ${storeFolder(dataDir)} away first.`, exitCodes.failed)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const unfinished = `${storeFolder(dataDir)}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await using snapshot = await source.snapshot()
  await writeRestoredStore(unfinished, snapshot.rows)
  await rename(unfinished, storeFolder(dataDir))
  await syncFolder(dataDir)
  await giveToOwnerOf(dataDir)
}

async function digestOf(store: StoreKv): Promise<RowDigest> {
  await using snapshot = await store.snapshot()
  return await digestRows(snapshot.rows)
}
