/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('form-logic', (language) => import(`../../../catalogs/dashboard/${language}/form-logic.json`))
