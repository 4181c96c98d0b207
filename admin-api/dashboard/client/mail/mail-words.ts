/** Texts for the parts of stored messages, loaded together with their code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('mail', (language) => import(`../../../catalogs/dashboard/${language}/mail.json`))
