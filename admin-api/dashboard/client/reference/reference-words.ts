/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('reference', (language) => import(`../../../catalogs/dashboard/${language}/reference.json`))
