/**
 * The spool folder of `postern sendmail`: one file per message, with a line of JSON followed by the message. A file gets its name only when
 * all of it is on disk, and is removed only when the daemon has stored the message.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chown, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { makeFolder } from '../../process/data-folder.ts'
import { ownerForRoot } from '../../backup/ownership.ts'
import { placeWhole, syncFolder } from '../../backup/whole-file.ts'

/**
 * The first line of a file. `id` forms the idempotency key; `by` names the API key. `proof` shows that the writer knew that key, so the
 * daemon accepts the message without the key itself.
 */
export interface Head {
  readonly id: string
  readonly from: string
  readonly to: readonly string[]
  readonly by: string
  readonly proof?: string | undefined
}

export interface Spooled {
  readonly head: Head
  readonly message: Buffer
}

const ending = '.mail'
/** The error for a file that the command did not write. */
export const notSpooled = 'This is not a message of postern sendmail.'
const lf = 10
/** Age after which an unfinished file of a crash is removed. */
const abandonedMs = 24 * 3600 * 1000
const fileMode = 0o640
/** Largest message that the command and the spool read. The daemon has a separate limit. */
export const maxBytes = 256 * 1024 * 1024
/** The message with its first line. */
const maxFileBytes = 2 * maxBytes

/** Spool folder of the daemon on this data folder. */
export const spoolFolder = ({ dataDir, sendmail: { spool } }: Pick<Config, 'dataDir' | 'sendmail'>): string =>
  spool ?? join(dataDir, 'spool')

/** Returns an id that sorts by time. */
export const newSpoolId = (): string => `${Date.now().toString(36)}-${randomUUID()}`

export const spoolBytes = ({ head, message }: Spooled): Buffer => Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), message])

/** Resolves when file and folder are on disk, so that a power failure does not lose the message. */
export async function keepInSpool(folder: string, spooled: Spooled): Promise<void> {
  await makeOwned(folder)
  await place(folder, `${spooled.head.id}${ending}`, spoolBytes(spooled))
}

/** Creates the folder. If root creates it, it gets the owner of its parent folder, such as the daemon's user. */
async function makeOwned(folder: string): Promise<void> {
  if (!(await makeFolder(folder))) return
  const owner = await ownerForRoot(dirname(folder))
  if (owner) await chown(folder, owner.uid, owner.gid)
  await syncFolder(dirname(folder))
}

/**
 * Writes a file that the owner and the group of the folder can read, regardless of the writer. So the daemon can send mail of other users
 * if it owns the folder and the folder has the set-group-ID bit.
 */
async function place(folder: string, name: string, bytes: Buffer): Promise<void> {
  const owner = await ownerForRoot(folder)
  await placeWhole(join(folder, name), [bytes], fileMode, async (file) => {
    if (owner) await file.chown(owner.uid, owner.gid)
    await file.chmod(fileMode) // regardless of the caller's umask
  })
}

/** Names of spooled messages, oldest first; empty if there is no folder. */
export async function waitingIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  await Promise.all(names.filter((name) => name.endsWith('.tmp')).map((name) => removeAbandoned(join(folder, name))))
  return names.filter((name) => name.endsWith(ending)).toSorted()
}

/**
 * Returns undefined if another process was quicker or this user may not read the file. Throws for other files, also links and pipes, which
 * another user may have created.
 */
export async function readSpooled(folder: string, name: string): Promise<Spooled | undefined> {
  let bytes: Buffer
  try {
    await using file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile() || found.size > maxFileBytes) throw new Error(notSpooled)
    bytes = await file.readFile()
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
  const end = bytes.indexOf(lf)
  return { head: JSON.parse(bytes.toString('utf8', 0, Math.max(0, end))) as Head, message: bytes.subarray(end + 1) }
}

/** Removes a message that the daemon has stored. */
export const removeSpooled = (folder: string, name: string): Promise<void> => rm(join(folder, name), { force: true })

/** Moves a permanently refused message to `failed` and writes the reason next to it. Does nothing if another process was quicker. */
export async function setAside(folder: string, name: string, reason: string): Promise<void> {
  const failed = join(folder, 'failed')
  await makeOwned(failed)
  await place(failed, `${name}.reason`, Buffer.from(`${reason}\n`))
  try {
    await rename(join(folder, name), join(failed, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const isThere = await stat(join(failed, name)).catch(() => undefined)
    if (!isThere) await rm(join(failed, `${name}.reason`), { force: true })
  }
  await Promise.all([syncFolder(failed), syncFolder(folder)])
}

async function removeAbandoned(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && Date.now() - found.mtimeMs > abandonedMs) await rm(path, { force: true })
}
