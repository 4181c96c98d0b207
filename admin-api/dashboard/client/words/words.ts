/** Words that several screens share, with those of the frame. Not for the frame itself, whose own are `shell-words.ts`. */
import { computed } from '@preact/signals'
import { catalog } from './catalog.ts'
import { words as shell } from './shell-words.ts'

const insights = catalog('insights', (chosen) => import(`../../../catalogs/dashboard/${chosen}/insights.json`))
const screens = catalog('screens', (chosen) => import(`../../../catalogs/dashboard/${chosen}/screens.json`))
const settings = catalog('settings', (chosen) => import(`../../../catalogs/dashboard/${chosen}/settings.json`))

const all = computed(() => ({ ...screens(), ...insights(), ...settings(), ...shell() }))

export type Words = typeof all.value

/** The words to show now. */
export const words = (): Words => all.value
