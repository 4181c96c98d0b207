/** Files that are there whole or not at all, whatever ends the process or the machine. */
import { randomUUID } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

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

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
