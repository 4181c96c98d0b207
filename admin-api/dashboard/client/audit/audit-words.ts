/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('audit', (language) => import(`../../../catalogs/dashboard/${language}/audit.json`))
