/** Bounds the compiled code in the data folder: each release leaves some that no start reads any more, and so does each version of Node. */
import { getCompileCacheDir } from 'node:module'
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { compiledFolder } from './use-compiled.js'

/** Three times what a start needs; beyond that the oldest goes, and is compiled again if it was needed. */
const maxBytes = 32 * 1024 ** 2

/** Never throws: what is left costs room and nothing else. Does nothing when Node keeps its code elsewhere. */
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
    // another start at work there, or a folder that was taken away
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
