/** Codes and ids of a report in the language of the page, or in English if the language has no text. */
import type { Said } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import type { ReportWords } from './report-words.ts'

type Known = ReportWords['checks']

const knownIn = (words: Known, name: string): string | undefined => (Object.hasOwn(words, name) ? words[name] : undefined)

const inEnglish = (text: string, { lang }: ReportWords): Html => (lang === 'en' ? html`${text}` : html`<span lang="en">${text}</span>`)

/** Returns the name of an id: a check, a rule, a cap or a problem. */
export const named = (words: ReportWords, of: 'checks' | 'ruleNames' | 'caps' | 'problems', id: string, english: string): Html => {
  const known = knownIn(words[of], id)
  return known === undefined ? inEnglish(english, words) : html`${known}`
}

/** Returns sentences in one language. Values are inserted once, so braces in values have no effect. */
export function worded(words: ReportWords, english: string, said: readonly Said[] | Said | undefined): Html {
  const sentences = [said ?? []].flat().map(({ code, values }) => {
    const known = knownIn(words.sentences, code)
    return known?.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  })
  const isWorded = sentences.length > 0 && sentences.every((sentence) => sentence !== undefined)
  return isWorded ? html`${sentences.join(' ')}` : inEnglish(english, words)
}
