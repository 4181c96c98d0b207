/** Texts of a report in the language of the page, by code. A text of another release is shown in English, as the report has it. */
import { codedMessage } from '#config/texts/coded-message.ts'
import type { Said } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import type { ReportTexts } from './report-texts.ts'

/** Name of a check or rule, reason of a cap, or problem of a test. */
export const named = (texts: ReportTexts, of: 'checks' | 'ruleNames' | 'caps' | 'problems', id: string, english: string): Html =>
  inLanguage(codedMessage(texts[of], id), english, texts)

export function translated(texts: ReportTexts, english: string, said: readonly Said[] | Said | undefined): Html {
  const sentences = [said ?? []].flat().map(({ code, values }) => codedMessage(texts.sentences, code, values))
  const isKnown = sentences.length > 0 && sentences.every((sentence) => sentence !== undefined)
  return inLanguage(isKnown ? sentences.join(' ') : undefined, english, texts)
}

const inLanguage = (text: string | undefined, english: string, { lang }: ReportTexts): Html =>
  text !== undefined || lang === 'en' ? html`${text ?? english}` : html`<span lang="en">${english}</span>`
