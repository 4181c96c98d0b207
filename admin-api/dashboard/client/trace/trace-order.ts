/** The list of traces as it was shown last, so that the page of one leads to those beside it, and back to the same list. */
import { signal } from '@preact/signals'
import { link, query } from '../app/location.ts'
import type { TraceSummary } from '../wire/operations.ts'

interface Order {
  /** The address of the list, with its filters. */
  readonly list: string
  readonly traces: readonly Pick<TraceSummary, 'trace_id'>[]
}

const shown = signal<Order>({ list: '', traces: [] })

export const rememberTraces = (list: string, traces: Order['traces']): void => void (shown.value = { list, traces })

export interface Place {
  readonly list: string
  /** The addresses of the traces beside it; undefined where there is none. */
  readonly before?: string | undefined
  readonly after?: string | undefined
}

/** Where a trace stands; one that was not in the list leads to all. */
export function placeOf(id: string): Place {
  const { list, traces } = shown.value
  const at = traces.findIndex(({ trace_id: one }) => one === id)
  if (at < 0) return { list: link('/traces') }
  const own = { tab: query.value.get('tab') ?? undefined, view: query.value.get('view') ?? undefined }
  const addressOf = (one: Order['traces'][number] | undefined): string | undefined => one && link(`/traces/${one.trace_id}`, own)
  return { list, before: addressOf(traces[at - 1]), after: addressOf(traces[at + 1]) }
}
