/** Texts that several pages use: times, roles, and completed actions. */
import { byLanguage, localeOf } from '#config/texts/formats.ts'
import { textsIn, type PageTexts } from '../texts/texts-for.ts'
import type { Language } from './language.ts'
import { html, type Html } from './html.ts'

/** Returns the language attribute of text that exists only in English. */
export const inEnglish = ({ lang }: PageTexts): Html | undefined => (lang === 'en' ? undefined : html`lang="en"`)

const timeFormat = byLanguage(
  (lang: Language) => new Intl.DateTimeFormat(localeOf(lang), { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
)

/** Returns a time in UTC, since the server does not know the reader's time zone. */
export const timeOf = (ms: number, lang: Language = 'en'): Html =>
  html`<time datetime="${new Date(ms).toISOString()}">${timeFormat(lang).format(ms)} UTC</time>`

const numberFormat = byLanguage((lang: Language) => new Intl.NumberFormat(localeOf(lang)))

/** Returns a formatted count. */
export const numberOf = (count: number, lang: Language): string => numberFormat(lang).format(count)

/** Returns the notice for a completed action in the query of a page; undefined for an unknown code. */
export const doneText = (code: string | undefined, { done }: PageTexts = textsIn('en')): string | undefined =>
  code !== undefined && Object.hasOwn(done, code) ? done[code as keyof typeof done] : undefined
