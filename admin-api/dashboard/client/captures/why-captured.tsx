/** Reason for the capture of a message, and all addresses found in the message. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { outcomeReason } from '../reasons/reasons.ts'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

export function WhyTab({ message }: { readonly message: CapturedMessage }): JSX.Element {
  const w = texts()
  const id = message.destination_id
  const destination = useRead('/v1/destinations/{id}', id === null ? undefined : { path: { id } })
  const trace = useRead('/v1/traces/{trace_id}', { path: { trace_id: message.trace_id } })
  const name = plain(destination.data?.name ?? id ?? '')
  const cause = trace.data && 'outcome_cause' in trace.data ? trace.data.outcome_cause : null
  const reasons = {
    'captured.anonymous_project': w.whyAnonymous,
    'captured.sandbox_destination': w.whySandbox({ name }),
    'captured.no_route': w.whyNoRoute,
  }
  const decided = cause === null ? undefined : outcomeReason({ outcome: message.capture_reason, outcome_cause: cause }, name)
  return (
    <div class="why">
      <h3>{decided ?? reasons[message.capture_reason]}</h3>
      <p>
        <a href={link(`/traces/${message.trace_id}`)}>{w.everyDecision}</a>
      </p>
      <h3>{w.addressesSeen}</h3>
      <ul>
        {message.addresses_seen.map((address) => (
          <li key={address}>
            <code>
              <SafeText text={address} />
            </code>{' '}
            {message.intended_to.some((to) => to.toLowerCase() === address.toLowerCase()) && <span class="tag">{w.recipient}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
