/** Texts of the pages for people, in the language of the reader. */
import type { IncomingHttpHeaders } from 'node:http'
import { byLanguage } from '#config/texts/formats.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../layout/language.ts'

interface TextsOfParts {
  readonly lang: Language
  readonly trace: PageCatalogs['trace']
  readonly organization: PageCatalogs['organizations']
  readonly mail: PageCatalogs['messages']
}

export type PageTexts = PageCatalogs['way'] & PageCatalogs['own'] & TextsOfParts

export const textsIn = byLanguage((lang: Language): PageTexts => ({
  lang,
  ...pageMessages('way', lang),
  ...pageMessages('own', lang),
  trace: pageMessages('trace', lang),
  organization: pageMessages('organizations', lang),
  mail: pageMessages('messages', lang),
}))

export const textsFor = (headers: IncomingHttpHeaders): PageTexts => textsIn(languageOf(headers))

/** Returns the translation of a message of the service; undefined if there is no translation. */
export function saidIn({ known }: PageTexts, message: string): string | undefined {
  const english = textsIn('en').known
  const name = (Object.keys(english) as (keyof typeof english)[]).find((each) => english[each] === message)
  return name && known[name]
}
