/** Texts of a language, and its writing direction. */
import { byLanguage } from '#config/texts/formats.ts'
import { pageMessages } from '../../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../../catalogs/pages/pages-catalogs.ts'

/** Texts of the service around a form; the texts of the form belong to its owner. */
export type FormTexts = PageCatalogs['forms'] & { readonly lang: string }

/** Reason why a form was not accepted, other than problems of answers. */
export type Notice = keyof FormTexts['retry']

const languages = ['ar', 'de', 'en', 'fr', 'it'] as const
type FormLanguage = (typeof languages)[number]

const textsIn = byLanguage((lang: FormLanguage): FormTexts => ({ lang, ...pageMessages('forms', lang) }))

const isKnown = (language: string): language is FormLanguage => languages.some((one) => one === language)

/** Returns the texts in the language of the form, or in English. */
export function textsFor(locale: string): FormTexts {
  const language = locale.split('-')[0] ?? ''
  return textsIn(isKnown(language) ? language : 'en')
}

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'iw', 'ks', 'ku', 'ps', 'sd', 'syr', 'ug', 'ur', 'yi'])

export const directionOf = (locale: string): 'ltr' | 'rtl' => (rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr')
