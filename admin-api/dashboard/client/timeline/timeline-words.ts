/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('timeline', (language) => import(`../../../catalogs/dashboard/${language}/timeline.json`))
