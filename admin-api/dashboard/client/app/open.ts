/** Open overlays of the shell, and the badges of the navigation. */
import { signal } from '@preact/signals'

export const isPaletteOpen = signal(false)
export const isApiCallOpen = signal(false)
export const isProjectMenuOpen = signal(false)
/** Whether the navigation is open on a phone. */
export const isMenuOpen = signal(false)

export interface Badge {
  /** Number of pending or broken items. */
  readonly count: number
  readonly hasMore?: boolean
  readonly isBroken?: boolean
}

/** Badges by the first address of a screen. */
export const badges = signal<Readonly<Record<string, Badge>>>({})
