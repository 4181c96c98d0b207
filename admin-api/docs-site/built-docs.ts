/** The built documentation and the names of its files. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { hasOwnFile, ownFile, readOwnFile } from '#config/own-files.ts'

export const builtFolder = join(import.meta.dirname, 'built')

/** `manifest.json`: the built files, by path under `/docs/`. */
export interface DocsManifest {
  readonly pages: readonly string[]
  readonly sources: readonly string[]
  readonly files: readonly string[]
}

/** Returns the file name; all built files are in one folder. */
export const nameOf = (path: string, ending: 'html' | 'md'): string => `${path === '' ? 'index' : path.replaceAll('/', '.')}.${ending}`

/** Returns undefined if the documentation was not built. */
export function readDocsManifest(): DocsManifest | undefined {
  const file = join(builtFolder, 'manifest.json')
  return hasOwnFile(file) ? (JSON.parse(ownFile(file).toString('utf8')) as DocsManifest) : undefined
}

const expand = promisify(gunzip)

/** A file of the site. */
export interface BuiltDoc {
  readonly compressed: Buffer
  /** Hash of the content. */
  readonly hash: string
  expanded(): Promise<Buffer>
}

/** Rejects if the file does not exist. */
export async function builtDoc(name: string): Promise<BuiltDoc> {
  const compressed = await readOwnFile(join(builtFolder, `${name}.gz`))
  return { compressed, hash: hash('sha256', compressed, 'base64url').slice(0, 22), expanded: () => expand(compressed) }
}
