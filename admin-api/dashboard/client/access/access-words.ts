/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('access', (language) => import(`../../../catalogs/dashboard/${language}/access.json`))
