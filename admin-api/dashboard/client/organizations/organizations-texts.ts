/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('organizations', (language) => import(`../../../catalogs/dashboard/${language}/organizations.json`))
