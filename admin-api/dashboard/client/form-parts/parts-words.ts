/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('form-parts', (language) => import(`../../../catalogs/dashboard/${language}/form-parts.json`))
