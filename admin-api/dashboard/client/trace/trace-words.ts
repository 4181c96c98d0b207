/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('trace', (language) => import(`../../../catalogs/dashboard/${language}/trace.json`))
