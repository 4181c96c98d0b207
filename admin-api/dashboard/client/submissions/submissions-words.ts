/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('submissions', (language) => import(`../../../catalogs/dashboard/${language}/submissions.json`))
