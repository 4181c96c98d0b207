/** The words for lines of invoices, read and compiled when they are first needed. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '../own-files.ts'
import { atFirstUse } from '../words/formats.ts'
import type { MessageTree } from '../words/message-tree.ts'
import { compileTree } from '../words/messages.ts'
import type { InvoiceLanguage, LineWords } from './line-words.ts'

const wordsOf = (language: InvoiceLanguage) =>
  atFirstUse<LineWords>(() => {
    const path = (one: string): string => join(import.meta.dirname, '../catalogs', one, 'invoice-lines.json')
    const read = (one: string): MessageTree => JSON.parse(ownFile(path(one)).toString('utf8')) as MessageTree
    const translated = language !== 'en' && hasOwnFile(path(language)) ? read(language) : undefined
    return compileTree(read('en'), translated, language, 'en') as unknown as LineWords
  })

const all: Readonly<Record<InvoiceLanguage, () => LineWords>> = {
  en: wordsOf('en'),
  de: wordsOf('de'),
  fr: wordsOf('fr'),
  it: wordsOf('it'),
}

export const lineWordsIn = (language: InvoiceLanguage): LineWords => all[language]()
