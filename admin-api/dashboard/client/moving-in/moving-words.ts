/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('moving-in', (language) => import(`../../../catalogs/dashboard/${language}/moving-in.json`))
