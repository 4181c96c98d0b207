/** The words of the page of a report, in the language of who reads it. */
import type { IncomingHttpHeaders } from 'node:http'
import { atFirstUse } from '#config/words/formats.ts'
import { checkTexts, type CheckTexts } from '../../catalogs/check-texts.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../layout/language.ts'

export type ReportWords = PageCatalogs['report'] & CheckTexts & { readonly lang: Language }

const wordsOf = (lang: Language) => atFirstUse<ReportWords>(() => ({ lang, ...pageMessages('report', lang), ...checkTexts(lang) }))

const all: Readonly<Record<Language, () => ReportWords>> = { en: wordsOf('en'), de: wordsOf('de'), fr: wordsOf('fr'), it: wordsOf('it') }

/** In the language of the reader. */
export const reportWordsFor = (headers: IncomingHttpHeaders): ReportWords => all[languageOf(headers)]()
