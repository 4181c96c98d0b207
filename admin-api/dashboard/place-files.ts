/** Built files take their place one by one, so that a service that runs from the folder meanwhile finds each either old or new. */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the files in their order, and removes all others of the folder. */
export function placeFiles(folder: string, files: readonly (readonly [name: string, content: Uint8Array | string])[]): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of files) {
    const temporary = join(folder, `${name}.${String(process.pid)}.new`)
    writeFileSync(temporary, content)
    renameSync(temporary, join(folder, name))
  }
  const written = new Set(files.map(([name]) => name))
  for (const name of readdirSync(folder)) if (!written.has(name) && !name.endsWith('.new')) rmSync(join(folder, name), { force: true })
}
