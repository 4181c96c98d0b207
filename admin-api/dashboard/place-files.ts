/** Replaces built files one by one with atomic renames. A running service therefore reads either the old or the new version of a file. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type BuiltFile = readonly [name: string, content: Uint8Array | string]

const keptMs = 24 * 60 * 60 * 1000

/**
 * Writes the files in the given order; the last file is the index that lists the others. Keeps files of the previous build, because a
 * running daemon or an open browser page may still load them. Deletes files that are at least one day older than the previous build.
 */
export function placeFiles(folder: string, files: readonly BuiltFile[]): void {
  mkdirSync(folder, { recursive: true })
  const index = files.at(-1)?.[0] ?? ''
  const builtBefore = statSync(join(folder, index), { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  for (const [name, content] of files) {
    const temporary = join(folder, `${name}.${String(process.pid)}.new`)
    writeFileSync(temporary, content)
    renameSync(temporary, join(folder, name))
  }
  const written = new Set(files.map(([name]) => name))
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const modifiedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    if (!written.has(name) && modifiedMs < builtBefore - keptMs) rmSync(path, { force: true })
  }
}
