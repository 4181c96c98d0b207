/** Mark of a store that was moved. A daemon that continued with it would send mail that a daemon at the new place also sends. */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreUnavailable } from '../kv.ts'

/** Inside the folder of the store, so that it moves with the folder. */
const markIn = (folder: string): string => join(folder, 'moved')

/** Resolves when the mark is durable. `to`: the new place, as messages show it. */
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

/** Returns the new place of a store that was moved; undefined if it was not moved. */
export async function movedTo(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(markIn(folder), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Throws `StoreUnavailable` if the store was moved. */
export async function requireUnmoved(folder: string): Promise<void> {
  const to = await movedTo(folder)
  if (to === undefined) return
  throw new StoreUnavailable(
    `The store in ${folder} was moved to ${to}. A daemon here would send mail a second time. Set POSTERN_STORE to that store. If ` +
      `no daemon has ever started there, delete ${markIn(folder)} to continue here.`,
  )
}
