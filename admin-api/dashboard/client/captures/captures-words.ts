/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('captures', (language) => import(`../../../catalogs/dashboard/${language}/captures.json`))
