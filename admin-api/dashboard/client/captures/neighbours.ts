/** The messages before and after the open message, in the order of the list. */
import { signal } from '@preact/signals'

interface Neighbours {
  readonly before?: string | undefined
  readonly after?: string | undefined
}

export const neighbours = signal<Neighbours>({})
