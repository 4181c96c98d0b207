/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('agents', (language) => import(`../../../catalogs/dashboard/${language}/agents.json`))
