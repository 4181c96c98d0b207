/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('queue', (language) => import(`../../../catalogs/dashboard/${language}/queue.json`))
