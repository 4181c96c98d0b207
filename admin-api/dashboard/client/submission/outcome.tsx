/** The outcome of a mail, as a link to its trace. */
import type { JSX } from 'preact'
import { useChanges } from '../app/live.ts'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { words } from '../submissions/submissions-words.ts'
import { getTrace } from '../wire/operations.ts'

export function Outcome({ traceId }: { readonly traceId: string }): JSX.Element {
  const { data, reload } = useRead(getTrace, { path: { trace_id: traceId } })
  useChanges('traces', reload)
  const status = data?.status ?? 'pending'
  return (
    <a class="status" href={link(`/traces/${traceId}`)}>
      <Mark name={status} /> {data ? status.replaceAll('_', ' ') : words().sent}
    </a>
  )
}
