/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('destinations', (language) => import(`../../../catalogs/dashboard/${language}/destinations.json`))
