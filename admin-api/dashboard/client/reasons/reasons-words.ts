/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('reasons', (language) => import(`../../../catalogs/dashboard/${language}/reasons.json`))
