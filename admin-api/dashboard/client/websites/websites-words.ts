/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('websites', (language) => import(`../../../catalogs/dashboard/${language}/websites.json`))
