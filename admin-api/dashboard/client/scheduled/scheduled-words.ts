/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('scheduled', (language) => import(`../../../catalogs/dashboard/${language}/scheduled.json`))
