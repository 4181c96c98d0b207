/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('websites', (language) => import(`../../../catalogs/dashboard/${language}/websites.json`))
