/** Writes files atomically: after a crash, a file is either complete or missing. */
import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileHolder } from '../process/port-holder.ts'

/**
 * Writes a temporary file, syncs it, renames it and syncs the folder. If `bytes` throws, removes the temporary file. With several writers
 * at once, the last one wins. `prepare` can change a new file before any content is written.
 */
export async function placeWhole(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mode = 0o600,
  prepare?: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.tmp` // unique for each writer
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

/** A temporary file in use changes more often than this. */
const unfinishedMs = 3600 * 1000

/**
 * Removes temporary files of killed writers from the folder: those older than an hour that no process has open. For a file with another
 * name, `isOurs` gets its first octets and decides whether it is of the same kind.
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

/** Returns an empty string if the file is not readable. */
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
