/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('audit', (language) => import(`../../../catalogs/dashboard/${language}/audit.json`))
