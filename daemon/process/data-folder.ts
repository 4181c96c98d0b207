/** The folder of all stored data: creates it if it is missing, and refuses a folder that is not usable. */
import { constants, statSync } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'
import { isThere } from './unreadable.ts'
import { compiledFolder } from './use-compiled.js'

/** Returns the path of the store in a data folder. */
export const storeFolder = (dataDir: string): string => join(dataDir, 'store')

/** Whether the data folder has a store. Throws `Unreadable` for a folder of another user. */
export const hasStore = (dataDir: string): Promise<boolean> => isThere(storeFolder(dataDir))

/** Whether a daemon has used the data folder. A daemon with a database leaves compiled code in it. Throws `Unreadable`. */
export const isUsed = async (dataDir: string): Promise<boolean> => (await hasStore(dataDir)) || (await isThere(compiledFolder(dataDir)))

/** Returns the path of a marker that exists during a restore, and after an interrupted one. */
export const unfinishedRestore = (dataDir: string): string => join(dataDir, 'restore-unfinished')

/** Creates a missing data folder. Throws `StartRefused` if it is not usable. */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(resolve(dataDir))
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    const advice = 'give it to the user who runs Postern, or choose another with POSTERN_DATA_DIR.'
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder, or has a parent that is not one' : 'cannot be written'
    throw new StartRefused(`${dataDir} ${reason} (${code}); ${advice}`, exitCodes.failed, { cause: error })
  }
  await requireRestored(dataDir)
}

/** Throws `StartRefused` if the folder contains an incomplete restore. */
export async function requireRestored(dataDir: string): Promise<void> {
  if (!(await isThere(unfinishedRestore(dataDir)))) return
  throw new StartRefused(
    `A restore into ${dataDir} is running or has failed, so data are missing. Delete the folder and restore the backup again.`,
    exitCodes.failed,
  )
}

/** Becomes the owner of the data folder for good if the process runs as root, because the daemon could not use files of root. */
export function becomeOwnerOf(dataDir: string): void {
  if (process.getuid?.() !== 0) return
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

/**
 * Creates a folder and its parents. Does not use the recursive `mkdir` of Node, which never ends in file systems such as /proc that have a
 * folder but do not allow new ones. Returns whether it created the folder.
 */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !(await isFolder(dirname(path)))) {
      await makeFolder(dirname(path))
      await mkdir(path, { mode: 0o700 })
      return true
    }
    if (await isFolder(path)) return false
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}
