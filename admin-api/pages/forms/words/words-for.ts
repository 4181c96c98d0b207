/** The words of a language, and the direction in which it is written. */
import { atFirstUse } from '#config/words/formats.ts'
import { pageMessages } from '../../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../../catalogs/pages/pages-catalogs.ts'

/** The words around a form that are ours; the texts of the form itself are its owner's. */
export type FormWords = PageCatalogs['forms'] & { readonly lang: string }

/** Why a form was not taken, besides what is wrong with answers. */
export type Notice = keyof FormWords['retry']

const wordsOf = (lang: string, locale: string) => atFirstUse<FormWords>(() => ({ lang, ...pageMessages('forms', lang, locale) }))

const english = wordsOf('en', 'en-GB')
const all: ReadonlyMap<string, () => FormWords> = new Map([
  ['ar', wordsOf('ar', 'ar')],
  ['de', wordsOf('de', 'de-CH')],
  ['en', english],
  ['fr', wordsOf('fr', 'fr')],
  ['it', wordsOf('it', 'it-CH')],
])

/** In the language of the form where we have it, else in English. */
export const wordsFor = (locale: string): FormWords => (all.get(locale.split('-')[0] ?? '') ?? english)()

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'iw', 'ks', 'ku', 'ps', 'sd', 'syr', 'ug', 'ur', 'yi'])

export const directionOf = (locale: string): 'ltr' | 'rtl' => (rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr')
