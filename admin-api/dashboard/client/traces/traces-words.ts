/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('traces', (language) => import(`../../../catalogs/dashboard/${language}/traces.json`))
