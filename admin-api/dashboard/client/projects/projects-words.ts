/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('projects', (language) => import(`../../../catalogs/dashboard/${language}/projects.json`))
