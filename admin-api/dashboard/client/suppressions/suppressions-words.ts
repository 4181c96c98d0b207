/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('suppressions', (language) => import(`../../../catalogs/dashboard/${language}/suppressions.json`))
