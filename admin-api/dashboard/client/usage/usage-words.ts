/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('usage', (language) => import(`../../../catalogs/dashboard/${language}/usage.json`))
