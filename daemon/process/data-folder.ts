/** The folder of everything that is stored: made when it is missing, refused when it cannot be used. */
import { constants, statSync } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { exitCodes } from './lifecycle.ts'
import { StartRefused } from './start-refused.ts'
import { isThere } from './unreadable.ts'
import { compiledFolder } from './use-compiled.js'

/** The store inside a data folder. */
export const storeFolder = (dataDir: string): string => join(dataDir, 'store')

/** Whether a store was begun in the data folder. Throws `Unreadable` when that is another user's. */
export const hasStore = (dataDir: string): Promise<boolean> => isThere(storeFolder(dataDir))

/** Whether a daemon has run on the data folder; with its store in a database, it leaves compiled code there. Throws `Unreadable`. */
export const isUsed = async (dataDir: string): Promise<boolean> => (await hasStore(dataDir)) || (await isThere(compiledFolder(dataDir)))

/** There while a restore is under way, and after one that broke off. */
export const unfinishedRestore = (dataDir: string): string => join(dataDir, 'restore-unfinished')

/** Makes the data folder unless it is there. Throws `StartRefused` for what cannot be used. */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(resolve(dataDir))
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    const advice = 'give it to the user who runs Postern, or choose another with POSTERN_DATA_DIR.'
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder, or lies in something that is none' : 'cannot be written'
    throw new StartRefused(`${dataDir} ${reason} (${code}); ${advice}`, exitCodes.failed, { cause: error })
  }
  await requireRestored(dataDir)
}

/** Throws `StartRefused` for a folder into which a backup was not restored to its end. */
export async function requireRestored(dataDir: string): Promise<void> {
  if (!(await isThere(unfinishedRestore(dataDir)))) return
  throw new StartRefused(
    `A restore into ${dataDir} is under way or broke off, and data are missing; delete the folder and restore the backup again.`,
    exitCodes.failed,
  )
}

/**
 * Where root opens the data of another user, it becomes that user for good: files that it made would be of no use to the daemon.
 */
export function becomeOwnerOf(dataDir: string): void {
  if (process.getuid?.() !== 0) return
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  process.setgroups?.([owner.gid])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}

/**
 * With those around it; by itself, as the recursive `mkdir` of Node never ends where a file system has a folder but cannot make one in it,
 * such as /proc. Returns whether it was made now.
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
