/** The words of what the operator does about invoices, credits and websites, which are loaded with its screens. */
import { inLanguages } from '../words/words.ts'
import { de } from './words.de.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'
import { it } from './words.it.ts'

export const words = inLanguages({ en, de, fr, it })
