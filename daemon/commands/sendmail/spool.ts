/**
 * The spool folder of `postern sendmail`: a file for each message, a line of JSON and the message behind it. A file has its name only
 * once all of it is on disk, and loses it only once the daemon has the message on its own.
 */
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '#config/settings/load.ts'
import { makeFolder } from '../../process/data-folder.ts'
import { placeWhole, syncFolder } from '../../backup/whole-file.ts'

/** The line before the message. `id` makes the idempotency key, `by` says with which key it is handed over. */
export interface Head {
  readonly id: string
  readonly from: string
  readonly to: readonly string[]
  readonly by: string
}

export interface Spooled {
  readonly head: Head
  readonly message: Buffer
}

const ending = '.mail'
const lf = 10
/** What a crash left half written is removed when it is older. */
const abandonedMs = 24 * 3600 * 1000

export const spoolFolder = ({ dataDir, sendmail: { spool } }: Config): string => spool ?? join(dataDir, 'spool')

/** Names sort by time. */
export const newSpoolId = (): string => `${Date.now().toString(36)}-${randomUUID()}`

export const spoolBytes = ({ head, message }: Spooled): Buffer => Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), message])

/** Resolves when file and folder are on disk: power may fail then. */
export async function keepInSpool(folder: string, spooled: Spooled): Promise<void> {
  if (await makeFolder(resolve(folder))) await syncFolder(dirname(folder))
  await placeWhole(join(folder, `${spooled.head.id}${ending}`), [spoolBytes(spooled)], 0o640)
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

/** Undefined when another process was quicker, or when this user may not read it. Throws for what is no spooled message. */
export async function readSpooled(folder: string, name: string): Promise<Spooled | undefined> {
  let bytes: Buffer
  try {
    bytes = await readFile(join(folder, name))
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
  if (await makeFolder(failed)) await syncFolder(folder)
  await placeWhole(join(failed, `${name}.reason`), [Buffer.from(`${reason}\n`)], 0o640)
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
