/** The words of this screen, which are loaded with it. */
import { de } from './words.de.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'
import { it } from './words.it.ts'
import { inLanguages } from '../words/words.ts'

export const words = inLanguages({ en, de, fr, it })
