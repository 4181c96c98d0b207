/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('submissions', (language) => import(`../../../catalogs/dashboard/${language}/submissions.json`))
