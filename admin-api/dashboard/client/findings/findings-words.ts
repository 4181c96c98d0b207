/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('findings', (language) => import(`../../../catalogs/dashboard/${language}/findings.json`))
