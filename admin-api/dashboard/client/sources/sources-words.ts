/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('sources', (language) => import(`../../../catalogs/dashboard/${language}/sources.json`))
