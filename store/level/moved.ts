/** A store that was moved elsewhere says so: a daemon that went on with it would send again what the one at the other place sends. */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnavailable } from '../kv.ts'

/** Inside the folder of the store, so that it goes where that goes. */
const markIn = (folder: string): string => join(folder, 'moved')

/** Durable when it resolves. `to`: the place, as messages show it. */
export async function markMoved(folder: string, to: string): Promise<void> {
  const file = await open(markIn(folder), 'w', 0o600)
  try {
    await file.writeFile(`${to}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  const around = await open(folder, 'r')
  try {
    await around.sync()
  } finally {
    await around.close()
  }
}

/** Where the store was moved to; undefined for one that was not. */
export async function movedTo(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(markIn(folder), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Throws `StoreUnavailable` for a store that was moved elsewhere. */
export async function requireUnmoved(folder: string): Promise<void> {
  const to = await movedTo(folder)
  if (to === undefined) return
  throw new StoreUnavailable(
    `The store in ${folder} was moved to ${to}: a daemon here would send again what one there sends. Set POSTERN_STORE to that, or, when ` +
      `no daemon has ever started there, delete ${markIn(folder)} to go on here.`,
  )
}
