/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('form-parts', (language) => import(`../../../catalogs/dashboard/${language}/form-parts.json`))
