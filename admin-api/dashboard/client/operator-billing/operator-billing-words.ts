/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('operator-billing', (language) => import(`../../../catalogs/dashboard/${language}/operator-billing.json`))
