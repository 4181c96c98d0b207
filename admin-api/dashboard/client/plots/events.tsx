/**
 * Changes that may explain a change of the figures. Sources are the audit log, if the role may read it, and currently paused destinations.
 */
import { createContext, type ComponentChildren, type JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { firstOf, useRead } from '../app/query.ts'
import type { Healths } from '../health/destination-health.ts'
import type { PlotEvent } from '../insights/drawing.ts'
import { momentLabel, type TimeSpan } from '../insights/time-range.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import type { AuditEntry, Destination } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './plots-texts.ts'

const Events = createContext<readonly PlotEvent[]>([])

/** Events that plots show as vertical lines. */
export const useEvents = (): readonly PlotEvent[] => useContext(Events)

/** Audit log subjects that affect routing. */
const nouns = ['destination', 'routing_rule', 'failover_policy'] as const
const most = 50
const refreshMs = 60_000
/** Equal events within this time count as one. */
const sameMs = 300_000

interface SpanProps {
  readonly span: TimeSpan
  readonly destinations: readonly Destination[]
  readonly healths: Healths
}

interface EventsProps extends SpanProps {
  readonly children: ComponentChildren
}

export function WithEvents({ children, ...of }: EventsProps): JSX.Element {
  return <Events.Provider value={useChanges(of)}>{children}</Events.Provider>
}

export const GivenEvents = ({
  events,
  children,
}: {
  readonly events: readonly PlotEvent[]
  readonly children: ComponentChildren
}): JSX.Element => <Events.Provider value={events}>{children}</Events.Provider>

function useChanges({ span, destinations, healths }: SpanProps): readonly PlotEvent[] {
  const read = nouns.flatMap((noun) => useEntries(noun, span))
  const rests = destinations.flatMap(({ id, name }): readonly PlotEvent[] => {
    const breaker = healths.get(id)?.breaker
    const isResting = breaker !== undefined && breaker.state !== 'closed' && breaker.since !== null
    return isResting ? [{ at: Date.parse(breaker.since ?? ''), text: texts().paused({ name: shortened(name) }), isBad: true }] : []
  })
  const all = [...read, ...rests].toSorted((a, b) => a.at - b.at)
  return all.filter(({ at, text }, index) => !all.slice(0, index).some((before) => before.text === text && at - before.at < sameMs))
}

function useEntries(act: string, { from, to }: TimeSpan): readonly PlotEvent[] {
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const time = { since: new Date(from).toISOString(), until: new Date(to).toISOString() }
  const { data } = useRead('/v1/audit', mayChange.value ? firstOf(most, { query: { ...project, ...time, act } }) : undefined, {
    every: refreshMs,
  })
  return (data?.data ?? []).flatMap((entry) => {
    const text = textOf(entry)
    return text === undefined ? [] : [{ at: Date.parse(entry.at), text, isBad: false }]
  })
}

const longestName = 24
const shortened = (name: string): string => (name.length > longestName ? `${plain(name.slice(0, longestName))}…` : plain(name))

/** Returns undefined if the change does not affect outgoing mail. */
function textOf({ act, target, details }: AuditEntry): string | undefined {
  const w = texts()
  const name = shortened(typeof details['name'] === 'string' ? details['name'] : target)
  if (act.startsWith('routing_rule.')) return w.rulesChanged
  if (act.startsWith('failover_policy.')) return w.failoverChanged
  if (act === 'destination.set_live') return w.live({ name })
  if (act === 'destination.set_sandbox') return w.sandbox({ name })
  if (act === 'destination.updated') return w.changed({ name })
  return act === 'destination.deleted' ? w.deleted({ name }) : undefined
}

/** List of the events, latest first. */
export function Changes({ span }: { readonly span: TimeSpan }): JSX.Element | null {
  const w = texts()
  const events = useEvents().filter(({ at }) => at >= span.from && at < span.to)
  if (events.length === 0) return null
  return (
    <details class="changes">
      <summary>{w.changesInTime({ count: events.length })}</summary>
      <ul>
        {events.toReversed().map(({ at, text, isBad }) => (
          <li key={`${String(at)} ${text}`} class={isBad ? 'bad' : ''}>
            <time datetime={new Date(at).toISOString()}>{momentLabel(at, span.to - span.from)}</time> <SafeText text={text} />
          </li>
        ))}
      </ul>
      {mayChange.value && <a href={link('/settings/audit')}>{allTexts().auditLog}</a>}
    </details>
  )
}
