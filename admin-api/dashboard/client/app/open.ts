/** What is open over the screen, and the counts beside entries of the navigation. */
import { signal } from '@preact/signals'

export const isPaletteOpen = signal(false)
export const isApiCallOpen = signal(false)
/** The navigation on phones. */
export const isMenuOpen = signal(false)

/** By the name of the screen: what waits, or what is broken. */
export const badges = signal<Readonly<Record<string, { readonly count: number; readonly hasMore?: boolean; readonly isBroken?: boolean }>>>(
  {},
)
