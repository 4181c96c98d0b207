/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('profile', (language) => import(`../../../catalogs/dashboard/${language}/profile.json`))
