/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('unsubscribes', (language) => import(`../../../catalogs/dashboard/${language}/unsubscribes.json`))
