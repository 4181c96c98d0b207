/** Texts shared by several screens, combined with the texts of the shell. The shell itself uses only `shell-texts.ts`. */
import { computed } from '@preact/signals'
import { catalog } from './catalog.ts'
import { texts as shell } from './shell-texts.ts'

const common = catalog('common', (chosen) => import(`../../../catalogs/dashboard/${chosen}/common.json`))
const overview = catalog('overview', (chosen) => import(`../../../catalogs/dashboard/${chosen}/overview.json`))
const messages = catalog('messages', (chosen) => import(`../../../catalogs/dashboard/${chosen}/messages.json`))
const delivery = catalog('delivery', (chosen) => import(`../../../catalogs/dashboard/${chosen}/delivery.json`))
const credentials = catalog('credentials', (chosen) => import(`../../../catalogs/dashboard/${chosen}/credentials.json`))
const endpoints = catalog('endpoints', (chosen) => import(`../../../catalogs/dashboard/${chosen}/endpoints.json`))
const insights = catalog('insights', (chosen) => import(`../../../catalogs/dashboard/${chosen}/insights.json`))

const all = computed(() => ({
  ...common(),
  ...overview(),
  ...messages(),
  ...delivery(),
  ...credentials(),
  ...endpoints(),
  ...insights(),
  ...shell(),
}))

export type Texts = typeof all.value

/** Returns the texts in the current language. */
export const texts = (): Texts => all.value
