/** Limits the compiled code in the data folder, because each release and each version of Node leaves code that is no longer used. */
import { getCompileCacheDir } from 'node:module'
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { compiledFolder } from './use-compiled.js'

/** Three times the code of a start. Beyond this, the oldest files are deleted; Node compiles them again if needed. */
const maxBytes = 32 * 1024 ** 2

/** Deletes old code. Never throws, because leftover code only costs space. Does nothing if Node uses another folder. */
export async function boundCompiled(dataDir: string, current = getCompileCacheDir()): Promise<void> {
  const folder = resolve(compiledFolder(dataDir))
  if (current === undefined || dirname(resolve(current)) !== folder) return
  try {
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      if (path !== resolve(current)) await rm(path, { recursive: true, force: true })
    }
    await boundFolder(current)
  } catch {
    // another start uses the folder, or it was removed
  }
}

async function boundFolder(folder: string): Promise<void> {
  const files: { readonly path: string; readonly mtimeMs: number; readonly size: number }[] = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const { mtimeMs, size } = await stat(path)
    files.push({ path, mtimeMs, size })
  }
  let kept = 0
  for (const { path, size } of files.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    kept += size
    if (kept > maxBytes) await rm(path, { force: true })
  }
}
