/** Files that are there whole or not at all, whatever ends the process or the machine. */
import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Written beside its place, synced, renamed, and the folder synced. Nothing is left of it when `bytes` throws; of several at once the last
 * to end stays. `prepare` sets what a new file has not, before anything is written.
 */
export async function placeWhole(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mode = 0o600,
  prepare?: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.tmp` // unique for each writer of the file
  try {
    const file = await open(unfinished, 'w', mode)
    try {
      await prepare?.(file)
      for await (const chunk of bytes) await file.writeFile(chunk)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(resolve(path)))
}

/** A file that is being written changes all the time. */
const unfinishedMs = 3600 * 1000

/** Removes what writers of this file have left that were killed more than an hour ago. */
export async function removeUnfinished(path: string): Promise<void> {
  const folder = dirname(resolve(path))
  const isUnfinished = (name: string): boolean => name.startsWith(`${basename(path)}.`) && /\.[\da-f-]{36}\.tmp$/.test(name)
  for (const name of (await readdir(folder)).filter(isUnfinished)) {
    const left = join(folder, name)
    const { mtimeMs } = (await stat(left).catch(() => undefined)) ?? {}
    if (mtimeMs !== undefined && mtimeMs < Date.now() - unfinishedMs) await rm(left, { force: true })
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
