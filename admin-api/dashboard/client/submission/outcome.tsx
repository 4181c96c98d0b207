/** Status of a message, with a link to its trace. */
import type { JSX } from 'preact'
import { useChanges } from '../app/live.ts'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { texts } from '../submissions/submissions-texts.ts'

interface OutcomeProps {
  readonly traceId: string
  /** Known status of the trace. Undefined reads it; null means that the trace no longer exists. */
  readonly status?: string | null
}

export function Outcome({ traceId, status: known }: OutcomeProps): JSX.Element {
  const { data, reload } = useRead('/v1/traces/{trace_id}', known === undefined ? { path: { trace_id: traceId } } : undefined)
  useChanges('traces', reload)
  const status = known ?? data?.status
  return (
    <a class="status" href={link(`/traces/${traceId}`)}>
      <Mark name={status ?? 'pending'} /> {status?.replaceAll('_', ' ') ?? texts().sent}
    </a>
  )
}
