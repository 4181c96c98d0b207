/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('members', (language) => import(`../../../catalogs/dashboard/${language}/members.json`))
