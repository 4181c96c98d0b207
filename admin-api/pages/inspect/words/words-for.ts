/** The words of the page of a report, in the language of who reads it. */
import type { IncomingHttpHeaders } from 'node:http'
import { firstLanguage } from '../../layout/first-language.ts'
import { de } from './report.de.ts'
import { en } from './report.en.ts'
import { fr } from './report.fr.ts'
import { it } from './report.it.ts'
import type { ReportWords } from './report-words.ts'

const all: Readonly<Record<string, ReportWords>> = { en, de, fr, it }

/** Of the first language that a browser asks for; English where it is none of ours. */
export const reportWordsFor = (headers: IncomingHttpHeaders): ReportWords => {
  const language = firstLanguage(headers).toLowerCase().split('-')[0] ?? ''
  return (Object.hasOwn(all, language) ? all[language] : undefined) ?? en
}
