/** Files that are there whole or not at all, whatever ends the process or the machine. */
import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileHolder } from '../process/port-holder.ts'

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

/**
 * Removes unfinished files that killed writers left in this folder. Such a file is an hour old, and no process has it open. `isOurs` gets
 * the first octets of a file with another name, and tells whether it is of the same kind.
 */
export async function removeUnfinished(path: string, isOurs: (start: string) => boolean): Promise<void> {
  const folder = dirname(resolve(path))
  for (const name of (await readdir(folder)).filter((one) => /\.[\da-f-]{36}\.tmp$/.test(one))) {
    const left = join(folder, name)
    const { mtimeMs } = (await stat(left).catch(() => undefined)) ?? {}
    if (mtimeMs === undefined || mtimeMs >= Date.now() - unfinishedMs) continue
    const isKnown = name.startsWith(`${basename(path)}.`) || isOurs(await startOf(left))
    if (isKnown && (await fileHolder(left)) === undefined) await rm(left, { force: true })
  }
}

/** Empty for a file that cannot be read. */
async function startOf(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r')
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } catch {
    return ''
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
