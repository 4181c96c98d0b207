/** The catalogs of this folder, read and compiled when they are first needed. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '../own-files.ts'
import { byLanguage } from '../texts/formats.ts'
import type { MessageTree } from '../texts/message-tree.ts'
import { compileTree } from '../texts/messages.ts'
import type { ConfigCatalogs } from './config-catalogs.ts'

/** Messages in a language. English replaces each that the language lacks. */
export const catalogIn = <Name extends keyof ConfigCatalogs>(name: Name, language: string): ConfigCatalogs[Name] =>
  compiled(`${language}/${name}`) as unknown as ConfigCatalogs[Name]

const compiled = byLanguage((file: string) => {
  const [language = 'en', name = ''] = file.split('/')
  const path = (one: string): string => join(import.meta.dirname, one, `${name}.json`)
  const read = (one: string): MessageTree => JSON.parse(ownFile(path(one)).toString('utf8')) as MessageTree
  return compileTree(read('en'), language !== 'en' && hasOwnFile(path(language)) ? read(language) : undefined, language, 'en')
})
