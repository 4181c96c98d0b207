/** The documentation as it was built, and how its files are named. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { hasOwnFile, ownFile, readOwnFile } from '#config/own-files.ts'

export const builtFolder = join(import.meta.dirname, 'built')

/** `manifest.json`: what there is, by path under `/docs/`. */
export interface DocsManifest {
  readonly pages: readonly string[]
  readonly sources: readonly string[]
  readonly files: readonly string[]
}

/** All built files lie in one folder. */
export const nameOf = (path: string, ending: 'html' | 'md'): string => `${path === '' ? 'index' : path.replaceAll('/', '.')}.${ending}`

/** Undefined where the documentation was not built. */
export function readDocsManifest(): DocsManifest | undefined {
  const file = join(builtFolder, 'manifest.json')
  return hasOwnFile(file) ? (JSON.parse(ownFile(file).toString('utf8')) as DocsManifest) : undefined
}

const expand = promisify(gunzip)

/** A file of the site. */
export interface BuiltDoc {
  readonly compressed: Buffer
  /** Of the content. */
  readonly hash: string
  expanded(): Promise<Buffer>
}

/** Rejects when there is no such file. */
export async function builtDoc(name: string): Promise<BuiltDoc> {
  const compressed = await readOwnFile(join(builtFolder, `${name}.gz`))
  return { compressed, hash: hash('sha256', compressed, 'base64url').slice(0, 22), expanded: () => expand(compressed) }
}
