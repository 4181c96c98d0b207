/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('reference', (language) => import(`../../../catalogs/dashboard/${language}/reference.json`))
