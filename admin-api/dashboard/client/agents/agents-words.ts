/** Texts of this screen, loaded together with its code. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('agents', (language) => import(`../../../catalogs/dashboard/${language}/agents.json`))
