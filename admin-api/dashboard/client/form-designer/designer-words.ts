/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('form-designer', (language) => import(`../../../catalogs/dashboard/${language}/form-designer.json`))
