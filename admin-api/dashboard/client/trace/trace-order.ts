/** The latest list of traces. A trace page links to its neighbors in this list, and back to it. */
import { signal } from '@preact/signals'
import { link, query } from '../app/location.ts'
import type { TraceSummary } from '../wire/api.d.ts'

interface Order {
  /** URL of the list with its filters. */
  readonly list: string
  readonly traces: readonly Pick<TraceSummary, 'trace_id'>[]
}

const shown = signal<Order>({ list: '', traces: [] })

export const rememberTraces = (list: string, traces: Order['traces']): void => void (shown.value = { list, traces })

export interface Place {
  readonly list: string
  /** URL of the neighboring trace. Undefined at the end of the list. */
  readonly before?: string | undefined
  readonly after?: string | undefined
}

/** Returns the list and neighbors of a trace. A trace outside of the list leads to the list of all traces. */
export function placeOf(id: string): Place {
  const { list, traces } = shown.value
  const at = traces.findIndex(({ trace_id: one }) => one === id)
  if (at < 0) return { list: link('/traces') }
  const own = { tab: query.value.get('tab') ?? undefined, view: query.value.get('view') ?? undefined }
  const addressOf = (one: Order['traces'][number] | undefined): string | undefined => one && link(`/traces/${one.trace_id}`, own)
  return { list, before: addressOf(traces[at - 1]), after: addressOf(traces[at + 1]) }
}
