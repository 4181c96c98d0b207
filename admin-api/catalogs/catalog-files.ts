/** Where catalogs are, and the English text that stands in for a missing translation. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { MessageTree } from '#config/words/message-tree.ts'

/** Folder of the catalogs of a program, with a folder for each language. */
export const catalogFolder = (name: string): string => join(import.meta.dirname, name)

/** Names of the catalogs of a folder, which are those of English. */
export const catalogNames = (folder: string): readonly string[] =>
  globSync('*.json', { cwd: join(folder, 'en') })
    .map((file) => basename(file, '.json'))
    .sort()

export const readCatalog = (path: string): MessageTree => JSON.parse(readFileSync(path, 'utf8')) as MessageTree
