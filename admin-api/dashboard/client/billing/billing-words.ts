/** The words of invoices and credits, which are loaded with their screens. */
import { inLanguages } from '../words/words.ts'
import { de } from './words.de.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'
import { it } from './words.it.ts'

export const words = inLanguages({ en, de, fr, it })
