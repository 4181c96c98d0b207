/** A body in a file that has no name any more: it goes with the process that reads it, whatever happens to that. */
import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

/** The whole body, to be read at any place; closed when it is disposed of. */
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
