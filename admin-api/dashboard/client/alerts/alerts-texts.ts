/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('alerts', (language) => import(`../../../catalogs/dashboard/${language}/alerts.json`))
