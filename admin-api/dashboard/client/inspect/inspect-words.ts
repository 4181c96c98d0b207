/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('inspect', (language) => import(`../../../catalogs/dashboard/${language}/inspect.json`))
