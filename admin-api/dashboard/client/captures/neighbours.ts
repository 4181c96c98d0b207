/** The messages before and after the one that is read, in the list as it is shown. */
import { signal } from '@preact/signals'

interface Neighbours {
  readonly before?: string | undefined
  readonly after?: string | undefined
}

export const neighbours = signal<Neighbours>({})
