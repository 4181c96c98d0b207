/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('webhooks', (language) => import(`../../../catalogs/dashboard/${language}/webhooks.json`))
