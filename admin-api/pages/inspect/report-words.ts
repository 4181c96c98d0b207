/** Words of the report page, in the language of the reader. */
import type { IncomingHttpHeaders } from 'node:http'
import { wordsByLanguage } from '#config/words/formats.ts'
import { checkTexts, type CheckTexts } from '../../catalogs/check-texts.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../layout/language.ts'

export type ReportWords = PageCatalogs['report'] & CheckTexts & { readonly lang: Language }

const wordsIn = wordsByLanguage((lang: Language): ReportWords => ({ lang, ...pageMessages('report', lang), ...checkTexts(lang) }))

/** Returns the words in the language of the reader. */
export const reportWordsFor = (headers: IncomingHttpHeaders): ReportWords => wordsIn(languageOf(headers))
