/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('diagnosis', (language) => import(`../../../catalogs/dashboard/${language}/diagnosis.json`))
