/** The language of the pages for a reader. */
import type { IncomingHttpHeaders } from 'node:http'
import { firstLanguage } from './first-language.ts'

const languages = ['en', 'de', 'fr', 'it'] as const
export type Language = (typeof languages)[number]

/** Cookie with the language that the reader chose in the dashboard. */
const chosen = /(?:^|;)\s*postern_language=(\w{2})(?=\s*(?:;|$))/

/** Value of `Vary` for a page in the reader's language. RFC 9110 §12.5.5. */
export const variesByLanguage = 'Accept-Language, Cookie'

/** Returns the language chosen in the dashboard, or the browser's first language. Returns English if it is not supported. */
export function languageOf(headers: IncomingHttpHeaders): Language {
  const wanted = [chosen.exec(headers.cookie ?? '')?.[1], firstLanguage(headers)].map((tag) => tag?.toLowerCase().split('-')[0])
  return wanted.flatMap((tag) => languages.filter((language) => language === tag))[0] ?? 'en'
}
