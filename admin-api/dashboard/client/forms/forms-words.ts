/** The words of the list of forms and of the frame of one, which are loaded with them. */
import { inLanguages } from '../words/words.ts'
import { de } from './words.de.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'
import { it } from './words.it.ts'

export const words = inLanguages({ en, de, fr, it })
