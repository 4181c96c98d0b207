/** The words of a language, and the direction in which it is written. */
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import type { FormWords } from './words.ts'

const all: Readonly<Record<string, FormWords>> = { ar, de, en, fr, it }

/** In the language of the form where we have it, else in English. */
export const wordsFor = (locale: string): FormWords => all[locale.split('-')[0] ?? ''] ?? en

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'iw', 'ks', 'ku', 'ps', 'sd', 'syr', 'ug', 'ur', 'yi'])

export const directionOf = (locale: string): 'ltr' | 'rtl' => (rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr')
