/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('plots', (language) => import(`../../../catalogs/dashboard/${language}/plots.json`))
