/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('publishable', (language) => import(`../../../catalogs/dashboard/${language}/publishable.json`))
