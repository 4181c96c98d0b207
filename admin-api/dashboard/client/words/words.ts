/** Texts shared by several screens, combined with the texts of the shell. The shell itself uses only `shell-words.ts`. */
import { computed } from '@preact/signals'
import { catalog } from './catalog.ts'
import { words as shell } from './shell-words.ts'

const insights = catalog('insights', (chosen) => import(`../../../catalogs/dashboard/${chosen}/insights.json`))
const screens = catalog('screens', (chosen) => import(`../../../catalogs/dashboard/${chosen}/screens.json`))
const settings = catalog('settings', (chosen) => import(`../../../catalogs/dashboard/${chosen}/settings.json`))

const all = computed(() => ({ ...screens(), ...insights(), ...settings(), ...shell() }))

export type Words = typeof all.value

/** Returns the texts in the current language. */
export const words = (): Words => all.value
