/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('webhooks', (language) => import(`../../../catalogs/dashboard/${language}/webhooks.json`))
