/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('organizations', (language) => import(`../../../catalogs/dashboard/${language}/organizations.json`))
