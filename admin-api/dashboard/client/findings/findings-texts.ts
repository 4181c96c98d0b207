/** Texts of this screen, loaded together with its code. */
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { catalog, loaded } from '../texts/catalog.ts'

export const texts = catalog('findings', (language) => import(`../../../catalogs/dashboard/${language}/findings.json`))

/** Titles, summaries and remedies of all kinds of findings. */
export const kindTexts = loaded<ConfigCatalogs['findings']>(
  'findings',
  (language) => import(`../../../../config/catalogs/${language}/findings.json`),
)
