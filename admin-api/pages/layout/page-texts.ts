/** Texts that several pages use: times, roles, and completed actions. */
import { atFirstUse } from '#config/texts/formats.ts'
import { textsIn, type PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from './html.ts'

/** Returns the language attribute of text that exists only in English. */
export const inEnglish = ({ lang }: PageTexts): Html | undefined => (lang === 'en' ? undefined : html`lang="en"`)

const formatIn = (locale: string) =>
  atFirstUse(() => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }))
const timeFormats = { en: formatIn('en-GB'), de: formatIn('de'), fr: formatIn('fr-CH'), it: formatIn('it-CH') } as const

/** Returns a time in UTC, since the server does not know the reader's time zone. */
export const timeOf = (ms: number, lang: keyof typeof timeFormats = 'en'): Html =>
  html`<time datetime="${new Date(ms).toISOString()}">${timeFormats[lang]().format(ms)} UTC</time>`

const numberFormatIn = (locale: string) => atFirstUse(() => new Intl.NumberFormat(locale))
const numberFormats = { en: numberFormatIn('en-CH'), de: numberFormatIn('de'), fr: numberFormatIn('fr-CH'), it: numberFormatIn('it-CH') }

/** Returns a formatted count. */
export const numberOf = (count: number, lang: keyof typeof numberFormats): string => numberFormats[lang]().format(count)

/** Returns the notice for a completed action in the query of a page; undefined for an unknown code. */
export const doneText = (code: string | undefined, { done }: PageTexts = textsIn('en')): string | undefined =>
  code !== undefined && Object.hasOwn(done, code) ? done[code as keyof typeof done] : undefined
