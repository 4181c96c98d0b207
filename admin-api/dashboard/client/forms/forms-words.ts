/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('forms', (language) => import(`../../../catalogs/dashboard/${language}/forms.json`))
