/** The texts of the invoice page. */
import type { IncomingHttpHeaders } from 'node:http'
import { invoiceLanguages, type InvoiceLanguage } from '#config/plans/line-texts.ts'
import { byLanguage, localeOf } from '#config/texts/formats.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { firstLanguage } from '../../pages/layout/first-language.ts'

export type PageTexts = PageCatalogs['invoice'] & {
  readonly lang: InvoiceLanguage
  /** For numbers, amounts and dates. */
  readonly locale: string
}

const textsIn = byLanguage((lang: InvoiceLanguage): PageTexts => ({
  lang,
  locale: localeOf(lang),
  ...pageMessages('invoice', lang),
}))

/** Returns the texts in the requested language, or in the first language of the browser if it is supported, or else in English. */
export function pageTexts(asked: string | undefined, headers: IncomingHttpHeaders): PageTexts {
  const wanted = [asked, firstLanguage(headers)].map((tag) => tag?.toLowerCase().split('-')[0])
  const found = wanted.flatMap((tag) => invoiceLanguages.filter((language) => language === tag))
  return textsIn(found[0] ?? 'en')
}
