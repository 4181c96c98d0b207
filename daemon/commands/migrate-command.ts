/** `postern migrate`: copies a store between a data folder and a database, either way, and compares the copy with what it was made of. */
import { mkdir, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { BackupReader } from '#store/backup/chain.ts'
import { isPastBackup } from '#store/backup/past-backups.ts'
import { versionOf } from '#store/engine/codec.ts'
import { digestRows, type RowDigest } from '#store/engine/row-digest.ts'
import type { SnapshotRow } from '#store/engine/snapshot.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { writeRestoredStore } from '#store/level/restored-store.ts'
import { isPostgresAddress } from '#store/postgresql/address.ts'
import type { CopyTarget, Finished } from '#store/postgresql/restored-store.ts'
import { giveToOwnerOf } from '../backup/ownership.ts'
import { syncFolder } from '../backup/whole-file.ts'
import { hasStore, storeFolder } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { objectsOf, openStore, requireStore } from '../open-store.ts'
import { StartRefused } from '../process/start-refused.ts'
import { explained, snapshotSource } from './backup/backup-command.ts'
import type { MigrateWords } from './command-line.ts'

type StoreSettings = Config['store']

interface Out {
  write(text: string): unknown
}

/**
 * Large values of a database stand where the settings say. Throws `StartRefused` or `StoreUnavailable`; what was there before is there
 * then.
 */
export async function migrate(words: MigrateWords, settings: StoreSettings, out: Out): Promise<ExitCode> {
  const { from, to, replace, isAhead } = words
  if (isPostgresAddress(from) ? from === to : resolve(from) === resolve(to))
    throw new StartRefused('--from and --to are the same store.', exitCodes.usage)
  if (isAhead) return await migrateAhead(words, settings, out)
  await requireStore(placeOf(from, settings))
  await using source = await openStore(placeOf(from, settings))
  if (isPostgresAddress(to)) {
    const finished = await copyIntoDatabase(source, await targetOf(to, replace, settings))
    if (finished) {
      const { rows, changed } = finished
      out.write(`Copied ${changed} rows that changed since the copy made ahead; all ${rows} rows are there in their versions.\n`)
      return exitCodes.ok
    }
  } else await copyIntoFolder(source, to)
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

/** Copies while the daemon of the folder runs; the copy is finished without it. */
async function migrateAhead({ from, to, replace }: MigrateWords, settings: StoreSettings, out: Out): Promise<ExitCode> {
  if (isPostgresAddress(from) || !isPostgresAddress(to))
    throw new StartRefused('--ahead copies from a data folder into a database.', exitCodes.usage)
  const target = await targetOf(to, replace, settings)
  await using source = await snapshotSource(placeOf(from, settings), undefined, Date.now())
  const reader = new BackupReader(source.bytes)
  const { id, version } = await explained(reader.begin())
  if (id === undefined) throw new StartRefused('The daemon is of an older release; start this one first.', exitCodes.failed)
  const { copyAhead } = await import('#store/postgresql/restored-store.ts')
  const { rows, digest } = await explained(copyAhead(target, wholeRows(reader), { id, until: BigInt(version) }))
  out.write(
    `Copied ${rows} rows ahead; the copy is the same (SHA-256 ${digest}).\n` +
      'Nothing uses it yet: stop the daemon, and run the command again without --ahead for what changes until then.\n',
  )
  return exitCodes.ok
}

/** With the version of each row; the backup is read to its end, which says that it is whole. */
async function* wholeRows(reader: BackupReader): AsyncGenerator<SnapshotRow> {
  for await (const row of reader.rows()) yield row.kind === 'inline' ? { ...row, version: versionOf(row.body) } : row
  for await (const _ of reader.files());
}

const placeOf = (place: string, settings: StoreSettings): Parameters<typeof openStore>[0] =>
  isPostgresAddress(place)
    ? { dataDir: '', store: { ...settings, address: place } }
    : { dataDir: place, store: { ...settings, address: null } }

const targetOf = async (address: string, mayReplace: boolean, settings: StoreSettings): Promise<CopyTarget> => ({
  ...{ address, mayReplace },
  large: await objectsOf(settings),
})

/** Finishes a copy that was made ahead of this store; otherwise copies all, and returns undefined. */
async function copyIntoDatabase(source: StoreKv, target: CopyTarget): Promise<Finished | undefined> {
  const { copiedAhead, finishCopy, writeRestoredDatabase } = await import('#store/postgresql/restored-store.ts')
  const ahead = await copiedAhead(target)
  const isOurs = ahead !== undefined && (await isPastBackup(source, ahead.id))
  await using snapshot = await source.snapshot(isOurs ? ahead.until : undefined)
  if (isOurs) return await finishCopy(target, snapshot)
  await writeRestoredDatabase(target, snapshot.rows)
  return undefined
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
