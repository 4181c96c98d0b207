/** Built files take their place one by one, so that a service that runs from the folder meanwhile finds each either old or new. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type BuiltFile = readonly [name: string, content: Uint8Array | string]

const keptMs = 24 * 60 * 60 * 1000

/**
 * Writes the files in their order; the last one tells of the others. What the build before wrote stays, as a daemon or a page of a
 * browser that began with it may load a part only now; what is older than that build by a day goes.
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
