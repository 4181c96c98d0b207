/** Words of the page of a report, in the reader's language. */
import type { IncomingHttpHeaders } from 'node:http'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { wordsByLanguage } from '#config/words/formats.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../layout/language.ts'

export type ReportWords = PageCatalogs['report'] & ConfigCatalogs['checks'] & { readonly lang: Language }

const wordsIn = wordsByLanguage((lang: Language): ReportWords => ({ lang, ...pageMessages('report', lang), ...catalogIn('checks', lang) }))

export const reportWordsFor = (headers: IncomingHttpHeaders): ReportWords => wordsIn(languageOf(headers))
