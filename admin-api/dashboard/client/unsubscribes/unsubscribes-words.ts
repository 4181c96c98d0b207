/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('unsubscribes', (language) => import(`../../../catalogs/dashboard/${language}/unsubscribes.json`))
