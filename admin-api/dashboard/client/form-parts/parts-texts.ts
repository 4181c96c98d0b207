/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('form-parts', (language) => import(`../../../catalogs/dashboard/${language}/form-parts.json`))
