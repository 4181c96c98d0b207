/** Finds and reads catalogs. */
import { join } from 'node:path'
import { ownFile } from '#config/own-files.ts'
import type { MessageTree } from '#config/texts/message-tree.ts'

/** Returns the folder of a program's catalogs, which has a folder for each language. */
export const catalogFolder = (name: string): string => join(import.meta.dirname, name)

export const readCatalog = (path: string): MessageTree => JSON.parse(ownFile(path).toString('utf8')) as MessageTree
