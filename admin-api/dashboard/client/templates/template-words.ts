/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('templates', (language) => import(`../../../catalogs/dashboard/${language}/templates.json`))
