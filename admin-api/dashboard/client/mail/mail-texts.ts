/** Texts for the parts of stored messages, loaded together with their code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('mail', (language) => import(`../../../catalogs/dashboard/${language}/mail.json`))
