/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('audit', (language) => import(`../../../catalogs/dashboard/${language}/audit.json`))
