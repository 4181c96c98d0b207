/** The words of the parts of a form beside its fields and logic. */
import { inLanguages } from '../words/words.ts'
import { de } from './words.de.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'
import { it } from './words.it.ts'

export const words = inLanguages({ en, de, fr, it })
