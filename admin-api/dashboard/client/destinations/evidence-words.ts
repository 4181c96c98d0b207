/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('destinations', (language) => import(`../../../catalogs/dashboard/${language}/destinations.json`))
