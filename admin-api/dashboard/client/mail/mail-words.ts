/** Words of parts of stored messages, loaded with them. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('mail', (language) => import(`../../../catalogs/dashboard/${language}/mail.json`))
