/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('operator', (language) => import(`../../../catalogs/dashboard/${language}/operator.json`))
