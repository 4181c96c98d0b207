/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('routing', (language) => import(`../../../catalogs/dashboard/${language}/routing.json`))
