/** The received mail of a route in the order in which it was listed last, so that the page of a mail leads to the ones beside it. */
import { signal } from '@preact/signals'
import { query } from '../app/location.ts'

export const mailOrder = signal<{ readonly routeId: string; readonly ids: readonly string[] }>({ routeId: '', ids: [] })

/** What the list is narrowed to, which stays in the address of a mail for the way back. */
export const searched = (): { readonly q: string | undefined } => ({ q: query.value.get('q') ?? undefined })
