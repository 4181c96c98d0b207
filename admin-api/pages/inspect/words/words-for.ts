/** The words of the page of a report, in the language of who reads it. */
import type { IncomingHttpHeaders } from 'node:http'
import { languageOf, type Language } from '../../layout/language.ts'
import { de } from './report.de.ts'
import { en } from './report.en.ts'
import { fr } from './report.fr.ts'
import { it } from './report.it.ts'
import type { ReportWords } from './report-words.ts'

const all: Readonly<Record<Language, ReportWords>> = { en, de, fr, it }

/** In the language of the reader. */
export const reportWordsFor = (headers: IncomingHttpHeaders): ReportWords => all[languageOf(headers)]
