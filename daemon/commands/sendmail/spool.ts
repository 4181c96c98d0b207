/**
 * The spool folder of `postern sendmail`: a file for each message, a line of JSON and the message behind it. A file has its name only
 * once all of it is on disk, and loses it only once the daemon has the message on its own.
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
 * The line before the message. `id` makes the idempotency key, `by` says with which key it is handed over. `proof`: the writer of the file
 * knew that key, so that the daemon may take the message without it.
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
const lf = 10
/** What a crash left half written is removed when it is older. */
const abandonedMs = 24 * 3600 * 1000
const fileMode = 0o640
/** Largest message that is read at all, here and by the command; the daemon has its own limit. */
export const maxBytes = 256 * 1024 * 1024
/** With the line before it. */
const maxFileBytes = 2 * maxBytes

/** Of the daemon on this data folder. */
export const spoolFolder = ({ dataDir, sendmail: { spool } }: Pick<Config, 'dataDir' | 'sendmail'>): string =>
  spool ?? join(dataDir, 'spool')

/** Names sort by time. */
export const newSpoolId = (): string => `${Date.now().toString(36)}-${randomUUID()}`

export const spoolBytes = ({ head, message }: Spooled): Buffer => Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), message])

/** Resolves when file and folder are on disk: power may fail then. */
export async function keepInSpool(folder: string, spooled: Spooled): Promise<void> {
  await makeOwned(folder)
  await place(folder, `${spooled.head.id}${ending}`, spoolBytes(spooled))
}

/** A folder that root makes belongs to the owner of the folder around it, such as the user of the daemon. */
async function makeOwned(folder: string): Promise<void> {
  if (!(await makeFolder(folder))) return
  const owner = await ownerForRoot(dirname(folder))
  if (owner) await chown(folder, owner.uid, owner.gid)
  await syncFolder(dirname(folder))
}

/**
 * The owner and the group of the folder can read the file, whoever writes it: the daemon sends mail of other users too, if the folder
 * is its own and hands its group on (set-group-ID).
 */
async function place(folder: string, name: string, bytes: Buffer): Promise<void> {
  const owner = await ownerForRoot(folder)
  await placeWhole(join(folder, name), [bytes], fileMode, async (file) => {
    if (owner) await file.chown(owner.uid, owner.gid)
    await file.chmod(fileMode) // whatever the umask of the caller
  })
}

/** Names of the messages that wait, oldest first; none when there is no folder. */
export async function waitingIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  await Promise.all(names.filter((name) => name.endsWith('.tmp')).map((name) => removeAbandoned(join(folder, name))))
  return names.filter((name) => name.endsWith(ending)).toSorted()
}

/**
 * Undefined when another process was quicker, or when this user may not read it. Throws for what is no spooled message, also for links
 * and pipes, which another user may have put there.
 */
export async function readSpooled(folder: string, name: string): Promise<Spooled | undefined> {
  let bytes: Buffer
  try {
    await using file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile() || found.size > maxFileBytes) throw new Error('This is no message of postern sendmail.')
    bytes = await file.readFile()
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
  const end = bytes.indexOf(lf)
  return { head: JSON.parse(bytes.toString('utf8', 0, Math.max(0, end))) as Head, message: bytes.subarray(end + 1) }
}

/** The daemon has it. */
export const removeSpooled = (folder: string, name: string): Promise<void> => rm(join(folder, name), { force: true })

/** Keeps a message that was refused for good beside the others, with the reason; nothing of one that another process was quicker with. */
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
