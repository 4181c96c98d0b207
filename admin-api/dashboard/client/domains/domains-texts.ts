/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('domains', (language) => import(`../../../catalogs/dashboard/${language}/domains.json`))
