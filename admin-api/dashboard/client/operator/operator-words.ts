/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('operator', (language) => import(`../../../catalogs/dashboard/${language}/operator.json`))
