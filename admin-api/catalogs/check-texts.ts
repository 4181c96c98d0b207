/** What checks of a deliverability test say, by the codes of the service. English is what the service itself says. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '#config/own-files.ts'
import { catalogFolder } from './catalog-files.ts'

/** Texts by code. `{name}` in a sentence is a value of it. */
export type CheckTexts = Readonly<Record<'sentences' | 'checks' | 'ruleNames' | 'caps' | 'problems', Readonly<Record<string, string>>>>

const none: CheckTexts = { sentences: {}, checks: {}, ruleNames: {}, caps: {}, problems: {} }

/** Nothing for English and for a language without texts. */
export function checkTexts(language: string): CheckTexts {
  const path = join(catalogFolder('checks'), `${language}.json`)
  return hasOwnFile(path) ? (JSON.parse(ownFile(path).toString('utf8')) as CheckTexts) : none
}
