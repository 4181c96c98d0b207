/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('publishable', (language) => import(`../../../catalogs/dashboard/${language}/publishable.json`))
