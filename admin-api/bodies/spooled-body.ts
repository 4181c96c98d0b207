/** A body in an unlinked temporary file: the file disappears with the process, even after a crash. */
import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

/** Writes the whole body to a file for random access. Disposing of the handle closes it. */
export async function spooled(bytes: AsyncIterable<Uint8Array>, folder: string): Promise<FileHandle & AsyncDisposable> {
  const path = join(folder, `.upload.${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    for await (const chunk of bytes) await file.writeFile(chunk)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}
