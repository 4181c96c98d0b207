/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('suppressions', (language) => import(`../../../catalogs/dashboard/${language}/suppressions.json`))
