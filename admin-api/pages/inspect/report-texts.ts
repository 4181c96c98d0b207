/** Texts of the page of a report, in the reader's language. */
import type { IncomingHttpHeaders } from 'node:http'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { byLanguage } from '#config/texts/formats.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../layout/language.ts'

export type ReportTexts = PageCatalogs['report'] & ConfigCatalogs['checks'] & { readonly lang: Language }

const textsIn = byLanguage((lang: Language): ReportTexts => ({ lang, ...pageMessages('report', lang), ...catalogIn('checks', lang) }))

export const reportTextsFor = (headers: IncomingHttpHeaders): ReportTexts => textsIn(languageOf(headers))
