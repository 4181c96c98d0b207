/** Texts of the going-live flow, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('going-live', (language) => import(`../../../catalogs/dashboard/${language}/going-live.json`))
