/** Overview of routing: rules, default and failover chains. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject } from '../app/projects.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { Healths } from '../health/destination-health.ts'
import type { Destination, FailoverPolicy } from '../wire/api.d.ts'
import { texts as own } from './evidence-texts.ts'

interface Known {
  readonly destinations: readonly Destination[]
  readonly healths: Healths
}

const chainsShown = 5

export function WayOfSends({ destinations, healths }: Known): JSX.Element {
  const w = own()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const rules = useAll('/v1/routing/rules', { query: project })
  const policies = useAll('/v1/failover/policy', { query: project }).read.data
  const policy = homeProject()?.no_route_policy
  const sender = destinations.find(({ is_org_default: isDefault }) => isDefault)
  return (
    <div class="halves">
      <section aria-labelledby="way">
        <h2 id="way">{w.howFound}</h2>
        <ul class="ways">
          <li>
            <Icon name="routing" />
            {rules.read.data && w.rules({ n: rules.rows.length, hasMore: !rules.isComplete })} <a href={link('/routing')}>{w.showRules}</a>
          </li>
          {policy === 'relay_default' && (
            <li>
              <Icon name="destinations" />
              {w.elseSender} <b>{sender ? <SafeText text={sender.name} /> : w.noSender}</b>
            </li>
          )}
          {policy !== undefined && (
            <li>
              <Mark name={policy === 'capture' ? 'captured' : policy === 'reject' ? 'refused' : 'relayed'} />
              <span>
                {w.elsePolicy} <code>{policy}</code>
              </span>
              {mayChange.value && <a href={link('/routing')}>{w.change}</a>}
            </li>
          )}
        </ul>
      </section>
      <section aria-labelledby="takeover">
        <h2 id="takeover">{w.failover}</h2>
        {policies?.length === 0 && <p class="soft">{w.noFailover}</p>}
        {policies?.slice(0, chainsShown).map((one) => (
          <Chain key={one.id} policy={one} destinations={destinations} healths={healths} />
        ))}
        <p>
          <a href={link('/routing', { view: 'failover' })}>{w.showFailover}</a>
        </p>
      </section>
    </div>
  )
}

/** A failover chain: the primary destination and its fallbacks. Marks the first destination that currently accepts mail. */
function Chain({ policy, destinations, healths }: Known & { readonly policy: FailoverPolicy }): JSX.Element {
  const w = own()
  const ids = [policy.primary_id, ...policy.fallback_ids]
  const isUp = (id: string): boolean =>
    destinations.some((one) => one.id === id && one.mode === 'live') && (healths.get(id)?.breaker.state ?? 'closed') === 'closed'
  const taker = ids.find(isUp)
  return (
    <ol class="takeover">
      {ids.map((id) => {
        const destination = destinations.find((one) => one.id === id)
        const isPaused = destination?.mode === 'live' && !isUp(id)
        const says = destination?.mode === 'sandbox' ? w.skipped : isPaused ? w.resting : id === taker ? w.takesNow : ''
        return (
          <li key={id}>
            <span class={isPaused ? 'tag bad' : id === taker ? 'tag good' : 'tag'}>
              <Mark name={destination?.mode === 'sandbox' ? 'sandbox' : isPaused ? 'paused' : 'live'} />
              <SafeText text={destination?.name ?? id} /> {says !== '' && <small>{says}</small>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
