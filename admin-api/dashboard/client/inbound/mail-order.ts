/** Ids of the received messages of a route, in the order of the latest list. The page of a message links to its neighbors by them. */
import { signal } from '@preact/signals'
import { query } from '../app/location.ts'

export const mailOrder = signal<{ readonly routeId: string; readonly ids: readonly string[] }>({ routeId: '', ids: [] })

/** Returns the search of the list. The address of a message keeps it for the way back. */
export const searched = (): { readonly q: string | undefined } => ({ q: query.value.get('q') ?? undefined })
