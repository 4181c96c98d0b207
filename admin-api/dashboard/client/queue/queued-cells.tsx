/** Table cells of a queued message. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { longTime, shortTime } from '../parts/time.ts'
import { useSide } from '../queue-side/queue-side.ts'
import type { QueuedMessage } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { NamedDestination } from './filter.ts'
import { texts } from './queue-texts.ts'

interface OneProps {
  readonly one: QueuedMessage
}

const marks = { due: 'queued', attempting: 'pending', retry: 'warning', scheduled: 'queued', held: 'paused' } as const

export const StateMark = ({ state }: Pick<QueuedMessage, 'state'>): JSX.Element => <Mark name={marks[state]} />

export const QueueState = ({ one: { state } }: OneProps): JSX.Element => (
  <span class="status">
    <StateMark state={state} />
    {texts().states[state]}
  </span>
)

export function To({ one: { trace_id: id, to, from } }: OneProps): JSX.Element {
  const w = allTexts()
  const isOwn = useSide().organization === undefined
  const title = plain(`${from} → ${to.join(', ')}`)
  const inside = (
    <>
      <SafeText text={to[0] ?? from} />
      {to.length > 1 && ` ${w.andMore({ count: to.length - 1 })}`} <span class="faint">{w.from} </span>
      <span class="faint">
        <SafeText text={from} />
      </span>
    </>
  )
  if (!isOwn) return <span title={`${title} · ${id}`}>{inside}</span> // operators cannot open the traces of other organizations
  return (
    <a href={link(`/traces/${id}`)} title={title}>
      {inside}
    </a>
  )
}

export function When({ one: { next_attempt_at: at, held } }: OneProps): JSX.Element {
  if (held) {
    const why = texts().heldBy({ by: held.by, hasReason: Boolean(held.reason), reason: plain(held.reason ?? '') })
    return (
      <span title={`${longTime(held.at)}: ${why}`}>
        {shortTime(held.at)} {why}
      </span>
    )
  }
  return at === null ? <>–</> : <time datetime={at}>{shortTime(at)}</time>
}

export const DestinationName = ({ id, among }: { readonly id: string; readonly among: readonly NamedDestination[] }): JSX.Element => (
  <SafeText text={among.find((one) => one.id === id)?.name ?? id} />
)
