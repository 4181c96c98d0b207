/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('operator-billing', (language) => import(`../../../catalogs/dashboard/${language}/operator-billing.json`))
