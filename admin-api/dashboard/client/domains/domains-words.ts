/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('domains', (language) => import(`../../../catalogs/dashboard/${language}/domains.json`))
