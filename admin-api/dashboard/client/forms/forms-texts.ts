/** Texts of this screen, loaded together with its code. */
import { catalog } from '../texts/catalog.ts'

export const texts = catalog('forms', (language) => import(`../../../catalogs/dashboard/${language}/forms.json`))
