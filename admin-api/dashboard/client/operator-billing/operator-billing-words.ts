/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('operator-billing', (language) => import(`../../../catalogs/dashboard/${language}/operator-billing.json`))
