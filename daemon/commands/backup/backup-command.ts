/** `postern backup`: asks the running daemon for a snapshot, or opens the data of a stopped one, and writes it compressed and sealed. */
import { createReadStream, fstatSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { backupPassphraseVariable } from '#config/settings/environment.ts'
import type { Config } from '#config/settings/load.ts'
import { UnknownBackup } from '#store/backup/past-backups.ts'
import { isBackupStart, openBackup, sealBackup, type BackupHead } from '#store/backup/container.ts'
import { BackupReader } from '#store/backup/chain.ts'
import { BackupDamaged, encodeFrame, readFrames, SnapshotBroken, type Begin, type Frame } from '#store/backup/frames.ts'
import { whyNewer } from '#store/upgrade/store-form.ts'
import { releaseForm } from '#core/migrations.ts'
import { backupPath } from '../../../admin-api/operator/operator-backup.ts'
import { backupFrames } from '../../backup/data-files.ts'
import { giveToOwnerOf } from '../../backup/ownership.ts'
import { writeLastBackup } from '../../backup/last-backup.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { openStore, requireStore } from '../../open-store.ts'
import { runningDaemon } from '../../process/operator-file.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { keyFile, keyTextProblem, type KeySettings } from '../../process/master-key.ts'
import { isThere } from '../../process/unreadable.ts'
import { placeWhole, removeUnfinished } from '../../backup/whole-file.ts'
import type { BackupArguments } from '../command-line.ts'
import { callDaemon } from '../daemon-client.ts'

const noSnapshot = 'The daemon sent no snapshot. Check its log, then run the command again.'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Writable
  readonly stderr: { write(text: string): unknown }
}

/** Throws `StartRefused`. In this case no file is left that looks like a backup. */
export async function backup(config: Config, args: BackupArguments, { env, stdout, stderr }: Surroundings): Promise<ExitCode> {
  const { file, since: earlier } = args
  const passphrase = await passphraseOf(args.passphraseFile, env)
  if (passphrase === undefined)
    stderr.write(
      `This backup is not encrypted and contains the master key. Set ${backupPassphraseVariable} to encrypt it, or keep the file secret.\n`,
    )
  if (earlier !== undefined && resolve(earlier) === resolve(file))
    throw new StartRefused('FILE and --since name the same file. Write the incremental backup into another file.', exitCodes.usage)
  if (file !== '-') await makeRoom(file, args.force)
  else if (isNowhere(stdout))
    throw new StartRefused('Standard output is closed or /dev/null, so the backup would be lost. Name a file.', exitCodes.failed)
  const since = earlier === undefined ? undefined : await headOf(earlier, passphrase)
  const createdAt = new Date()
  await using source = await snapshotSource(config, since, createdAt.getTime())
  const frames = readFrames(source.bytes)
  const first = await explained(frames.next())
  const begin = first.done ? undefined : (JSON.parse(Buffer.from(first.value.body).toString('utf8')) as Begin)
  if (first.done || begin?.id === undefined) throw new StartRefused(noSnapshot, exitCodes.failed)
  const head = {
    ...{ id: begin.id, created_at: createdAt.toISOString(), until: begin.version },
    since: since ? { id: since.id, until: since.until } : null,
  }
  const sealed = counted(sealBackup(head, passphrase, encoded(first.value, frames)))
  if (file === '-') await explained(pipeline(Readable.from(sealed.bytes, { objectMode: false }), stdout, { end: false }))
  else await explained(placeWhole(file, sealed.bytes))
  await writeLastBackup(config.dataDir, createdAt.getTime()).catch((error: unknown) => {
    stderr.write(`The time of the backup could not be stored in ${config.dataDir}: ${(error as Error).message}\n`)
  })
  const where = file === '-' ? '' : ` in ${file}`
  stderr.write(`${since ? 'Incremental backup' : 'Backup'} of ${head.created_at}${where}, ${sealed.size()} bytes.\n`)
  if (begin.warning === undefined) return exitCodes.ok
  stderr.write(`${begin.warning} The backup is complete and contains the key that the running daemon uses.\n`)
  return exitCodes.failed
}

/** Returns true for a closed standard output: Node opens /dev/null in its place. */
function isNowhere(output: Writable): boolean {
  return 'fd' in output && typeof output.fd === 'number' && fstatSync(output.fd).rdev === statSync('/dev/null').rdev
}

/** Removes unfinished files of killed backups. Throws `StartRefused` if the file exists and may not be replaced. */
async function makeRoom(file: string, mayReplace: boolean): Promise<void> {
  if (!mayReplace && (await isThere(file)))
    throw new StartRefused(`${file} already exists. Use another name, or --force to replace it.`, exitCodes.failed)
  await removeUnfinished(file, isBackupStart)
}

/** `postern verify FILE`: reads a backup to its end. */
export async function verifyBackup(file: string, passphraseFile: string | undefined, { env, stdout }: Surroundings): Promise<ExitCode> {
  const passphrase = await passphraseOf(passphraseFile, env)
  const { head, reader } = await openedBackup(file, passphrase)
  const begin = await explained(reader.begin())
  const problem = await explained(readThrough(reader, begin))
  const { rows, files } = reader.counts
  const after = head.since ? `, based on the backup ${head.since.id}` : ''
  const state = problem === undefined ? 'complete' : '1 problem'
  stdout.write(`Backup ${head.id} of ${head.created_at}${after}: ${rows} rows and ${files} files, ${state}\n`)
  const found = [problem, whyUnreadable(head, begin)].filter((one) => one !== undefined)
  for (const one of found) stdout.write(`${one}\n`)
  return found.length === 0 ? exitCodes.ok : exitCodes.failed
}

/** Returns why this release cannot restore the backup; undefined if it can. */
export function whyUnreadable({ id }: BackupHead, { form }: Begin): string | undefined {
  const why = form && whyNewer(form, releaseForm)
  return why === undefined ? undefined : `The backup ${id} ${why} Restore it with that release.`
}

/** Reads the whole backup. Returns a sentence about a problem of its master key. */
async function readThrough(reader: BackupReader, { sealed }: Begin): Promise<string | undefined> {
  let problem: string | undefined
  for await (const _ of reader.rows());
  for await (const { path, content } of reader.files()) {
    if (path === keyFile && sealed !== undefined) problem = keyTextProblem(await text(Readable.from(content)), sealed)
  }
  return problem
}

/** Opens a backup; `-` is the standard input. Throws `StartRefused`. */
export async function openedBackup(
  file: string,
  passphrase: string | undefined,
): Promise<{ readonly head: BackupHead; readonly reader: BackupReader }> {
  const bytes = file === '-' ? process.stdin : createReadStream(file)
  const { head, frames } = await explained(openBackup(bytes, passphrase))
  return { head, reader: new BackupReader(frames) }
}

/** Reads the passphrase from the file or the environment; undefined if neither is set. Throws `StartRefused` if it is too short. */
export async function passphraseOf(file: string | undefined, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const given = file === undefined ? env[backupPassphraseVariable] : (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  if (given === undefined || (given === '' && file === undefined)) return undefined
  if (given.length >= 8) return given
  throw new StartRefused('The passphrase must have at least 8 characters.', exitCodes.usage)
}

/** Turns errors about a backup into `StartRefused`, which prints a sentence instead of a stack. */
export async function explained<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (error instanceof BackupDamaged || error instanceof SnapshotBroken || error instanceof UnknownBackup)
      throw new StartRefused(error.message, exitCodes.failed, { cause: error })
    throw error
  }
}

/**
 * Reads the head of the base backup of an incremental one. The passphrase must open it: restore uses one passphrase for a whole chain.
 * Throws `StartRefused`.
 */
async function headOf(file: string, passphrase: string | undefined): Promise<BackupHead> {
  try {
    const { head, frames } = await openBackup(createReadStream(file), passphrase)
    for await (const _ of frames) break // decrypts the first chunk
    return head
  } catch (error) {
    if (!(error instanceof BackupDamaged)) throw error
    const chain = 'All backups of a chain have the same passphrase. Use the passphrase of the earlier backup, or make a full backup.'
    throw new StartRefused(`${error.message} ${chain}`, exitCodes.failed, { cause: error })
  }
}

interface SnapshotSource extends AsyncDisposable {
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Reads a backup from the running daemon, or from the store of a stopped one. Throws `StartRefused` and `StoreUnavailable`. */
export async function snapshotSource(
  place: Pick<Config, 'dataDir' | 'store'> & Partial<KeySettings>,
  since: BackupHead | undefined,
  at: number,
): Promise<SnapshotSource> {
  const { dataDir, masterKey, masterKeyFile = null } = place
  const daemon = await runningDaemon(dataDir)
  if (daemon) {
    const { body } = await callDaemon(
      daemon,
      'GET',
      since ? `${backupPath}?${String(new URLSearchParams({ since: since.id, until: since.until }))}` : backupPath,
    )
    if (!body) throw new StartRefused(noSnapshot, exitCodes.failed)
    return { bytes: unbroken(body), async [Symbol.asyncDispose]() {} }
  }
  await requireStore(place)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => giveToOwnerOf(dataDir))
  const kv = opened.use(await openStore(place))
  const earlier = since && { id: since.id, until: BigInt(since.until) }
  const bytes = await explained(
    backupFrames(kv, dataDir, { since: earlier, at, ...(masterKey !== undefined && { key: { masterKey, masterKeyFile } }) }),
  )
  const kept = opened.move()
  return { bytes, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Reports a broken connection as the end of the daemon instead of a fault of this program. */
async function* unbroken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw new StartRefused(
      'The daemon stopped in the middle of the snapshot. Check the daemon, then run the command again.',
      exitCodes.failed,
      { cause: error },
    )
  }
}

async function* encoded(first: Frame, rest: AsyncIterable<Frame>): AsyncGenerator<Uint8Array> {
  yield encodeFrame(first)
  for await (const frame of rest) yield encodeFrame(frame)
}

function counted(bytes: AsyncIterable<Uint8Array>): { readonly bytes: AsyncIterable<Uint8Array>; readonly size: () => number } {
  let size = 0
  const counting = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      size += chunk.length
      yield chunk
    }
  }
  return { bytes: counting(), size: () => size }
}
