/** In which language the pages of this service answer a reader. */
import type { IncomingHttpHeaders } from 'node:http'
import { firstLanguage } from './first-language.ts'

const languages = ['en', 'de', 'fr', 'it'] as const
export type Language = (typeof languages)[number]

/** The dashboard keeps the language in it that a reader chose there. */
const chosen = /(?:^|;)\s*postern_language=(\w{2})(?=\s*(?:;|$))/

/** What the page of such an answer depends on. RFC 9110 §12.5.5. */
export const variesByLanguage = 'Accept-Language, Cookie'

/** The language that the reader chose in the dashboard, else the first one that the browser asks for; English where it is none of ours. */
export function languageOf(headers: IncomingHttpHeaders): Language {
  const wanted = [chosen.exec(headers.cookie ?? '')?.[1], firstLanguage(headers)].map((tag) => tag?.toLowerCase().split('-')[0])
  return wanted.flatMap((tag) => languages.filter((language) => language === tag))[0] ?? 'en'
}
