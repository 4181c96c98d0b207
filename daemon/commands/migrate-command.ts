/** `postern migrate`: copies a store between a data folder and a database and compares the copy with its source. */
import { rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { BackupReader } from '#store/backup/chain.ts'
import { isPastBackup } from '#store/backup/past-backups.ts'
import { versionOf } from '#store/engine/codec.ts'
import { digestRows, RowSum, type RowDigest } from '#store/engine/row-digest.ts'
import type { SnapshotRow } from '#store/engine/snapshot.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { DamagedFolder } from '#store/kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { markMoved, movedTo, requireUnmoved } from '#store/level/moved.ts'
import { writeRestoredStore } from '#store/level/restored-store.ts'
import { isPostgresAddress, parseStoreAddress } from '#store/postgresql/address.ts'
import type { CopyTarget } from '#store/postgresql/restored-store.ts'
import { giveToOwnerOf } from '../backup/ownership.ts'
import { syncFolder } from '../backup/whole-file.ts'
import { hasStore, makeFolder, storeFolder } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { objectsOf, openStore } from '../open-store.ts'
import { StartRefused } from '../process/start-refused.ts'
import { explained, snapshotSource } from './backup/backup-command.ts'
import type { MigrateArguments } from './command-line.ts'

type StoreSettings = Config['store']

/** Marks the source as moved. Must be durable before the copy is used. */
type Leave = () => Promise<void>

interface Out {
  write(text: string): unknown
}

/**
 * The settings decide where a database stores large values. Throws `StartRefused` or `StoreUnavailable`; the source stays unchanged then.
 */
export async function migrate(args: MigrateArguments, settings: StoreSettings, out: Out): Promise<ExitCode> {
  const { from, to, replace, isAhead } = args
  if (isPostgresAddress(from) ? from === to : resolve(from) === resolve(to))
    throw new StartRefused('--from and --to are the same store.', exitCodes.usage)
  if (isAhead) return await migrateAhead(args, settings, out)
  await requireSource(from, settings)
  await requireNotElsewhere(from, shownOf(to))
  await using opened = new AsyncDisposableStack()
  if (!isPostgresAddress(from)) opened.defer(() => giveToOwnerOf(from))
  const source = opened.use(await openStore(placeOf(from, settings)))
  const [damage] = source.damage
  if (damage) throw new DamagedFolder(storeFolder(from), [damage.sentence])
  const leave = (): Promise<void> => markMovedFrom(from, shownOf(to))
  if (isPostgresAddress(to)) await copyIntoDatabase(source, !isPostgresAddress(from), await targetOf(to, replace, settings), leave, out)
  else await copyIntoFolder(source, to, leave, out)
  out.write(`The store at ${shownOf(from)} can no longer be used. Start the daemon ${startedWith(to)}.\n`)
  return exitCodes.ok
}

/** Throws `StartRefused` when the folder has no store. */
async function requireSource(from: string, settings: StoreSettings): Promise<void> {
  const { dataDir, store } = placeOf(from, settings)
  if (store.address !== null || (await hasStore(dataDir))) return
  throw new StartRefused(
    `--from must be the data folder of a daemon, or postgresql://user@host/database; ${from} has no store.`,
    exitCodes.usage,
  )
}

const shownOf = (place: string): string => (isPostgresAddress(place) ? parseStoreAddress(place).shown : resolve(place))

const startedWith = (to: string): string =>
  isPostgresAddress(to) ? `with POSTERN_STORE set to ${shownOf(to)}` : `with the data folder ${shownOf(to)}, and without POSTERN_STORE`

/** Marks the source as moved. A daemon on the source would send the same mail again. */
async function markMovedFrom(from: string, to: string): Promise<void> {
  if (!isPostgresAddress(from)) return await markMoved(storeFolder(from), to)
  const { markMoved: markDatabase } = await import('#store/postgresql/moved.ts')
  await markDatabase(from, to)
}

/** A moved store is outdated. A repeated move to the same place is allowed, because the first may have failed. Throws `StartRefused`. */
async function requireNotElsewhere(from: string, to: string): Promise<void> {
  const isDatabase = isPostgresAddress(from)
  const elsewhere = isDatabase ? await (await import('#store/postgresql/moved.ts')).movedTo(from) : await movedTo(storeFolder(from))
  if (elsewhere === undefined || elsewhere === to) return
  const undone = isDatabase ? 'run COMMENT ON TABLE postern_rows IS NULL in that database' : `delete ${join(storeFolder(from), 'moved')}`
  throw new StartRefused(
    `The store at ${shownOf(from)} was moved to ${elsewhere}, which contains all later changes. Use that store as --from. To copy the old store, ${undone} first.`,
    exitCodes.failed,
  )
}

/** Copies while the daemon of the folder runs. A second run without the daemon completes the copy. */
async function migrateAhead({ from, to, replace }: MigrateArguments, settings: StoreSettings, out: Out): Promise<ExitCode> {
  if (isPostgresAddress(from) || !isPostgresAddress(to))
    throw new StartRefused('--ahead copies from a data folder into a database.', exitCodes.usage)
  await requireSource(from, settings)
  // a daemon of a moved folder uses another store, and its snapshot would be of that store
  await requireUnmoved(storeFolder(from))
  const target = await targetOf(to, replace, settings)
  await using source = await snapshotSource(placeOf(from, settings), undefined, Date.now())
  const reader = new BackupReader(source.bytes)
  const { id, version } = await explained(reader.begin())
  if (id === undefined) throw new StartRefused('The daemon is an older release. Restart it with this release first.', exitCodes.failed)
  const { copyAhead } = await import('#store/postgresql/restored-store.ts')
  const { rows, digest } = await explained(copyAhead(target, wholeRows(reader), { id, until: BigInt(version) }))
  out.write(
    `Copied ${rows} rows ahead; the copy is identical (SHA-256 ${digest}).\n` +
      'The copy is not in use yet. Stop the daemon, then run the command again without --ahead to copy later changes.\n',
  )
  return exitCodes.ok
}

/** Yields rows with their versions. Reads the backup to its end, which proves that it is complete. */
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

/**
 * Completes a copy that `--ahead` made of this store, if `mayGoOn` and the source knows which rows have changed since. Otherwise copies all
 * rows.
 */
async function copyIntoDatabase(source: StoreKv, mayGoOn: boolean, target: CopyTarget, leave: Leave, out: Out): Promise<void> {
  const { copiedAhead, finishCopy, writeRestoredDatabase } = await import('#store/postgresql/restored-store.ts')
  const ahead = await copiedAhead(target)
  const isOurs = mayGoOn && ahead !== undefined && (await isPastBackup(source, ahead.id))
  await using snapshot = await source.snapshot(isOurs ? ahead.until : undefined)
  if (isOurs) {
    const { rows, changed } = await finishCopy(target, snapshot, ahead, leave)
    out.write(`Copied ${changed} rows that changed since the copy made ahead. All ${rows} rows have their current versions.\n`)
    return
  }
  if (ahead) out.write('The copy made ahead is of another store, or older than a restore. All rows are copied again.\n')
  sayCopied(await writeRestoredDatabase(target, snapshot.rows, leave), out)
}

/** Copies into a folder. Keys and certificates of the folder do not change. */
async function copyIntoFolder(source: StoreKv, dataDir: string, leave: Leave, out: Out): Promise<void> {
  if (await hasStore(dataDir))
    throw new StartRefused(`${dataDir} already contains a store. Move ${storeFolder(dataDir)} to another place first.`, exitCodes.failed)
  await makeFolder(dataDir)
  const unfinished = `${storeFolder(dataDir)}.unfinished`
  const clear = (): Promise<void> => rm(unfinished, { recursive: true, force: true })
  await clear()
  await using snapshot = await source.snapshot()
  const found = await comparedCopy(unfinished, snapshot.rows).catch(async (error: unknown) => {
    const { message } = error as Error
    // the partial copy contains mail
    const rest = await clear().then(
      () => 'The partial copy was removed.',
      () => `The partial copy could not be removed. Delete ${unfinished}: it contains mail.`,
    )
    throw new StartRefused(
      `The copy into ${dataDir} failed: ${message.replace(/\.$/, '')}. ${rest} Fix the cause and run the command again.`,
      exitCodes.failed,
      { cause: error },
    )
  })
  await leave()
  await rename(unfinished, storeFolder(dataDir))
  await syncFolder(dataDir)
  await giveToOwnerOf(dataDir)
  sayCopied(found, out)
}

/** Copies and compares. Throws if the copy differs, and passes on errors of source and disk. */
async function comparedCopy(folder: string, rows: AsyncIterable<SnapshotRow>): Promise<RowDigest> {
  const sum = new RowSum()
  await writeRestoredStore(folder, sum.passing(rows))
  const [made, found] = [sum.digest(), await digestIn(folder)]
  if (found.digest === made.digest) return found
  throw new Error(`the copy differs from its source (${found.rows} rows instead of ${made.rows}).`)
}

const sayCopied = ({ rows, digest }: RowDigest, out: Out): unknown =>
  out.write(`Copied ${rows} rows; the copy is identical (SHA-256 ${digest}).\n`)

async function digestIn(folder: string): Promise<RowDigest> {
  await using store = await LevelKv.open(folder)
  await using snapshot = store.snapshot()
  return await digestRows(snapshot.rows)
}
