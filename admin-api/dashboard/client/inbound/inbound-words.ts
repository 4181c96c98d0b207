/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('inbound', (language) => import(`../../../catalogs/dashboard/${language}/inbound.json`))
