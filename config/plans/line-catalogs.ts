/** The words for lines of invoices, read and compiled when they are first needed. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '../own-files.ts'
import { wordsByLanguage } from '../words/formats.ts'
import type { MessageTree } from '../words/message-tree.ts'
import { compileTree } from '../words/messages.ts'
import type { InvoiceLanguage, LineWords } from './line-words.ts'

const path = (language: InvoiceLanguage): string => join(import.meta.dirname, '../catalogs', language, 'invoice-lines.json')
const read = (language: InvoiceLanguage): MessageTree => JSON.parse(ownFile(path(language)).toString('utf8')) as MessageTree

export const lineWordsIn = wordsByLanguage((language: InvoiceLanguage): LineWords => {
  const translated = language !== 'en' && hasOwnFile(path(language)) ? read(language) : undefined
  return compileTree(read('en'), translated, language, 'en') as unknown as LineWords
})
