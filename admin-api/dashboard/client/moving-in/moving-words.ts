/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('moving-in', (language) => import(`../../../catalogs/dashboard/${language}/moving-in.json`))
