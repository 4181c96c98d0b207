/** `postern restore`: restores a full backup and the incremental backups based on it into an empty folder. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path'
import type { BackupHead } from '#store/backup/container.ts'
import type { Begin } from '#store/backup/frames.ts'
import { chainedRows, type BackupFile, type BackupReader } from '#store/backup/chain.ts'
import { DamagedFolder } from '#store/kv.ts'
import { writeRestoredStore } from '#store/level/restored-store.ts'
import { makeFolder, storeFolder, unfinishedRestore } from '../../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { keyFile, keyTextProblem } from '../../process/master-key.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { readOwn } from '../../process/unreadable.ts'
import { placeWhole, syncFolder } from '../../backup/whole-file.ts'
import type { RestoreArguments } from '../command-line.ts'
import { giveToOwnerOf } from '../../backup/ownership.ts'
import { explained, openedBackup, passphraseOf, whyUnreadable } from './backup-command.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

/** Throws `StartRefused`. A failed restore leaves the folder marked, and no daemon starts on it. */
export async function restore(args: RestoreArguments, { env, stdout }: Surroundings): Promise<ExitCode> {
  const into = resolve(args.into)
  const passphrase = await passphraseOf(args.passphraseFile, env)
  const chain: { readonly head: BackupHead; readonly reader: BackupReader }[] = []
  for (const file of args.files) chain.push(await openedBackup(file, passphrase))
  requireChain(chain.map(({ head }) => head))
  let sealed: string | undefined
  for (const { head, reader } of chain) {
    const begin = await explained(reader.begin())
    requireReadableBackup(head, begin)
    sealed = begin.sealed
  }
  const last = chain.at(-1)
  if (!last) throw new StartRefused('restore needs a backup.', exitCodes.usage)
  await makeFolder(into)
  if ((await readdir(into)).length > 0)
    throw new StartRefused(`${into} is not empty. Restore into a new or empty folder.`, exitCodes.failed)
  const mark = unfinishedRestore(into)
  await writeFile(mark, 'A restore is running or has failed.\n', { mode: 0o600, flush: true })
  await syncFolder(into)
  try {
    await explained(
      restoreInto(
        into,
        chain.map(({ reader }) => reader),
        last.reader,
      ),
    )
  } catch (error) {
    if (error instanceof DamagedFolder)
      throw new StartRefused(
        `The disk returned other data than the restore wrote: ${error.problems[0]} Delete ${into}.`,
        exitCodes.failed,
        {
          cause: error,
        },
      )
    if (error instanceof StartRefused)
      throw new StartRefused(`${error.message} Nothing was restored. Delete ${into}.`, error.exitCode, { cause: error })
    throw error
  }
  await rm(mark)
  await giveToOwnerOf(into)
  await syncFolder(into)
  const { rows, files } = last.reader.counts
  stdout.write(`Restored the backup of ${last.head.created_at} into ${into}: ${rows} rows and ${files} files.\n`)
  const problem = sealed === undefined ? undefined : await keyProblemIn(into, sealed)
  if (problem === undefined) return exitCodes.ok
  stdout.write(`${problem} Until then, no daemon starts on this folder.\n`)
  return exitCodes.failed
}

/** Checks the master key of the folder. A backup does not contain a key that is configured elsewhere. */
async function keyProblemIn(into: string, sealed: string): Promise<string | undefined> {
  const path = join(into, keyFile)
  const text = await readOwn(path)
  return text === undefined ? undefined : keyTextProblem(text, sealed, path)
}

async function restoreInto(into: string, readers: readonly BackupReader[], last: BackupReader): Promise<void> {
  await writeRestoredStore(storeFolder(into), chainedRows(readers.map((reader) => reader.rows())))
  for (const reader of readers) {
    for await (const file of reader.files()) if (reader === last) await placeFile(into, file)
  }
}

async function placeFile(into: string, { path, mode, content }: BackupFile): Promise<void> {
  const clean = normalize(path)
  if (isAbsolute(clean) || clean.startsWith('..') || clean.split('/')[0] === 'store')
    throw new StartRefused(`The backup names a file outside its folder: ${JSON.stringify(path)}.`, exitCodes.failed)
  const place = join(into, clean)
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  await placeWhole(place, content, mode)
}

/** Throws `StartRefused` if a newer release made the backup. */
function requireReadableBackup(head: BackupHead, begin: Begin): void {
  const why = whyUnreadable(head, begin)
  if (why !== undefined) throw new StartRefused(why, exitCodes.failed)
}

function requireChain(heads: readonly BackupHead[]): void {
  for (const [i, { since }] of heads.entries()) {
    const before = heads[i - 1]
    if (i === 0 && since)
      throw new StartRefused(`The first backup is based on backup ${since.id}. Name that backup first.`, exitCodes.failed)
    if (i > 0 && since?.id !== before?.id)
      throw new StartRefused(
        'The backups do not form a chain. Name the full backup first, then each incremental backup in the order of creation.',
        exitCodes.failed,
      )
  }
}
