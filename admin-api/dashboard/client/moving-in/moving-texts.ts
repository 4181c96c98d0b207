/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('moving-in', (language) => import(`../../../catalogs/dashboard/${language}/moving-in.json`))
