/** What a report says by codes and ids, in the language of the page; in English where the language has no words for it. */
import type { Said } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import type { ReportWords } from './report-words.ts'

type Known = ReportWords['checks']

const knownIn = (words: Known, name: string): string | undefined => (Object.hasOwn(words, name) ? words[name] : undefined)

const inEnglish = (text: string, { lang }: ReportWords): Html => (lang === 'en' ? html`${text}` : html`<span lang="en">${text}</span>`)

/** What has an id: a check, a rule, a cap, a problem. */
export const named = (words: ReportWords, of: 'checks' | 'ruleNames' | 'caps' | 'problems', id: string, english: string): Html => {
  const known = knownIn(words[of], id)
  return known === undefined ? inEnglish(english, words) : html`${known}`
}

/** One or several sentences, in one language as a whole. Values are put in once, so that braces in them mean nothing. */
export function worded(words: ReportWords, english: string, said: readonly Said[] | Said | undefined): Html {
  const sentences = [said ?? []].flat().map(({ code, values }) => {
    const known = knownIn(words.sentences, code)
    return known?.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  })
  const isWorded = sentences.length > 0 && sentences.every((sentence) => sentence !== undefined)
  return isWorded ? html`${sentences.join(' ')}` : inEnglish(english, words)
}
