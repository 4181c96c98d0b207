/** Texts of the checks of a deliverability test, by code. The service itself contains the English texts. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '#config/own-files.ts'
import { catalogFolder } from './catalog-files.ts'

/** Texts by code. `{name}` in a sentence is replaced by a value. */
export type CheckTexts = Readonly<Record<'sentences' | 'checks' | 'ruleNames' | 'caps' | 'problems', Readonly<Record<string, string>>>>

const none: CheckTexts = { sentences: {}, checks: {}, ruleNames: {}, caps: {}, problems: {} }

/** Returns no texts for English and for a language without texts. */
export function checkTexts(language: string): CheckTexts {
  const path = join(catalogFolder('checks'), `${language}.json`)
  return hasOwnFile(path) ? (JSON.parse(ownFile(path).toString('utf8')) as CheckTexts) : none
}
