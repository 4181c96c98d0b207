/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('billing', (language) => import(`../../../catalogs/dashboard/${language}/billing.json`))
