/** Writes the documentation as files for any web server: `npm run docs`, into `build/docs` or a given folder. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root } from './chapters/contents.ts'
import { fileAddresses } from './chapters/links.ts'
import { makeSite } from './site.ts'

/** Replaces the whole folder. */
export async function writeDocs(folder: string): Promise<number> {
  const { pages, sources, files, llms, llmsFull } = await makeSite(fileAddresses)
  const temporary = `${folder}.${String(process.pid)}.new`
  const all: readonly (readonly [string, string | Uint8Array])[] = [
    ...[...pages].map(([path, text]) => [`${path === '' ? 'index' : path}.html`, text] as const),
    ...[...sources].map(([path, text]) => [`${path}.md`, text] as const),
    ...files.map(([name, content]) => [`files/${name}`, content] as const),
    ['llms.txt', llms],
    ['llms-full.txt', llmsFull],
  ]
  for (const [name, content] of all) {
    const path = join(temporary, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(temporary, folder)
  return pages.size
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, 'build/docs'))
  process.stdout.write(`${String(await writeDocs(folder))} pages in ${folder}\n`)
}
