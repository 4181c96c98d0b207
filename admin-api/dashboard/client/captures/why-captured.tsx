/** Why a message was captured, and every address that was seen in it. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { getDestination, type CapturedMessage } from '../wire/operations.ts'
import { words } from '../words/words.ts'

export function WhyTab({ message }: { readonly message: CapturedMessage }): JSX.Element {
  const w = words()
  const id = message.destination_id
  const destination = useRead(getDestination, id === null ? undefined : { path: { id } })
  const reasons = {
    'captured.anonymous_project': w.whyAnonymous,
    'captured.sandbox_destination': w.whySandbox(destination.data?.name ?? id ?? ''),
    'captured.no_route': w.whyNoRoute,
  }
  return (
    <div class="why">
      <h3>{reasons[message.capture_reason]}</h3>
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
