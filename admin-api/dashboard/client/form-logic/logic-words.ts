/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('form-logic', (language) => import(`../../../catalogs/dashboard/${language}/form-logic.json`))
