/** The words of a language, and the direction in which it is written. */
import { wordsByLanguage } from '#config/words/formats.ts'
import { pageMessages } from '../../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../../catalogs/pages/pages-catalogs.ts'

/** The words around a form that are ours; the texts of the form itself are its owner's. */
export type FormWords = PageCatalogs['forms'] & { readonly lang: string }

/** Why a form was not taken, besides what is wrong with answers. */
export type Notice = keyof FormWords['retry']

/** Where numbers are written as in this region. */
const locales = { ar: 'ar', de: 'de-CH', en: 'en-GB', fr: 'fr', it: 'it-CH' } as const
type FormLanguage = keyof typeof locales

const wordsIn = wordsByLanguage((lang: FormLanguage): FormWords => ({ lang, ...pageMessages('forms', lang, locales[lang]) }))

const isKnown = (language: string): language is FormLanguage => Object.hasOwn(locales, language)

/** In the language of the form where we have it, else in English. */
export function wordsFor(locale: string): FormWords {
  const language = locale.split('-')[0] ?? ''
  return wordsIn(isKnown(language) ? language : 'en')
}

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'iw', 'ks', 'ku', 'ps', 'sd', 'syr', 'ug', 'ur', 'yi'])

export const directionOf = (locale: string): 'ltr' | 'rtl' => (rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr')
