/** Open overlays of the shell, and the badge counts of the navigation. */
import { signal } from '@preact/signals'

export const isPaletteOpen = signal(false)
export const isApiCallOpen = signal(false)
/** Whether the navigation is open on a phone. */
export const isMenuOpen = signal(false)

/** Badges by screen name: the number of pending or broken items. */
export const badges = signal<Readonly<Record<string, { readonly count: number; readonly hasMore?: boolean; readonly isBroken?: boolean }>>>(
  {},
)
