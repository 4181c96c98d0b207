/** Head, verdict and timeline of a trace, with verbatim replies. */
import type { ComponentChildren, JSX } from 'preact'
import { link } from '../app/location.ts'
import { Recipients } from '../mail/recipients.tsx'
import { Mark, StatusTag } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { bytes, dateOnly, gap, longTime, preciseTime } from '../parts/time.ts'
import { useReasons } from '../reasons/reasons.ts'
import type { SentStatus, Trace } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { AttemptEntry, type AttemptDetail } from './attempt-entry.tsx'
import { ReportEntry, RouteEntry, SuppressedEntry } from './decision-entries.tsx'
import { EntrySentence } from '../timeline/entry-sentence.tsx'
import { texts as timelineTexts } from '../timeline/timeline-texts.ts'
import { Verdict } from './verdict.tsx'
import { texts } from './trace-texts.ts'

/** Whether the response is a full trace. Send-only keys receive less. */
export const isWhole = (trace: Trace | SentStatus): trace is Trace => 'timeline' in trace

/** Returns a short polling interval for a trace without a final status. */
export const refreshMsOf = (trace: Trace | SentStatus | undefined): number | undefined =>
  trace && /^(pending|queued|sent)$/.test(trace.status) ? 3000 : undefined

export function TraceHead({ trace, isLong = false }: { readonly trace: Trace; readonly isLong?: boolean }): JSX.Element {
  const w = allTexts()
  return (
    <>
      <div class="trace-tags">
        <StatusTag name={trace.status} />
        <StatusTag name={trace.outcome.split('.')[0] ?? ''} text={trace.outcome} />
        <h2 class="three-lines" title={plain(trace.subject)}>
          <SafeText text={trace.subject || w.noSubject} />
        </h2>
      </div>
      <p class="soft">
        <SafeText text={trace.from || trace.mail_from} /> {w.toWord} <Recipients all={trace.to} />
        {isLong && (
          <>
            {' · '}
            {bytes(trace.size)}
            {' · '}
            <time datetime={trace.created_at} title={trace.created_at}>
              {longTime(trace.created_at)}
            </time>
          </>
        )}
      </p>
      <Labels trace={trace} />
    </>
  )
}

/** Tags and metadata, each with a link to the matching messages. */
function Labels({ trace: { tags, metadata } }: { readonly trace: Trace }): JSX.Element | null {
  const labels = [
    ...tags.map((tag) => ({ name: 'tag', value: tag, filter: { tag } })),
    ...Object.entries(metadata).map(([name, value]) => ({ name, value, filter: { metadata: `${name}:${value}` } })),
  ]
  if (labels.length === 0) return null
  return (
    <ul class="labels" aria-label={texts().labels}>
      {labels.map(({ name, value, filter }, i) => (
        <li key={i}>
          <a class="chip" href={link('/traces', filter)}>
            <span class="soft">
              <SafeText text={name} />:
            </span>
            <b class="cut">
              <SafeText text={value} />
            </b>
          </a>
        </li>
      ))}
    </ul>
  )
}

type Entry = Trace['timeline'][number]

interface TimelineProps {
  readonly trace: Trace
  /** Content between verdict and timeline. */
  readonly children?: ComponentChildren
}

export function TraceTimeline({ trace, children }: TimelineProps): JSX.Element {
  const { timeline } = trace
  const settled = timeline.findIndex(({ event }) => event === 'sent' || event === 'partly_sent' || event === 'failed')
  return (
    <div class="trace-timeline">
      <Verdict trace={trace} />
      {children}
      <ol>
        {timeline.map((entry, i) => (
          <li key={i} class={settled >= 0 && i >= settled && i < timeline.length - 1 ? 'late' : ''}>
            <Time entry={entry} before={timeline[i - 1]} />
            <span class="node">
              <Mark name={markOf(entry, trace)} />
            </span>
            <div class="entry">
              <EntryContent entry={entry} trace={trace} />
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Time of an entry in milliseconds, the date if it changes, and the gap to the previous entry. */
function Time({ entry, before }: { readonly entry: Entry; readonly before: Entry | undefined }): JSX.Element {
  const isOtherDay =
    before === undefined
      ? new Date(entry.at).toDateString() !== new Date().toDateString()
      : before.at.slice(0, 10) !== entry.at.slice(0, 10)
  const isSameSecond = before?.at.slice(0, 19) === entry.at.slice(0, 19)
  const precise = preciseTime(entry.at)
  return (
    <time datetime={entry.at} title={entry.at}>
      {isOtherDay && <span>{dateOnly(entry.at)}</span>}
      {isSameSecond ? precise.slice(-4) : precise}
      {before && <span>{gap(before.at, entry.at)}</span>}
    </time>
  )
}

const marks: Readonly<Record<string, string>> = {
  accepted: 'ok',
  captured: 'captured',
  released: 'relayed',
  scheduled: 'queued',
  queued: 'queued',
  retry_scheduled: 'queued',
  waiting: 'queued',
  replayed: 'queued',
  retried: 'queued',
  held: 'pending',
  hold_released: 'queued',
  expedited: 'queued',
  dropped: 'canceled',
  suppressed: 'suppressed',
  auto_suppressed: 'suppressed',
  failover: 'warning',
  deferred: 'warning',
  bounce_unparsed: 'warning',
  partly_sent: 'warning',
  opened: 'ok',
  clicked: 'ok',
  approval_requested: 'pending',
  approved: 'ok',
  expired: 'canceled',
  withdrawn: 'canceled',
  tracking: 'none',
  verp: 'none',
  dialect: 'none',
}

function markOf({ event, detail }: Entry, { outcome }: Trace): string {
  if (event === 'routed') return outcome === 'relayed' ? 'relayed' : outcome === 'refused' ? 'refused' : 'captured'
  if (event === 'attempt') return attemptMark(detail as unknown as AttemptDetail)
  return marks[event] ?? event
}

const attemptMark = ({ state, recipients, error }: AttemptDetail): string => {
  if (state === 'started') return 'pending'
  if (recipients.some(({ verdict }) => verdict === 'permanent')) return 'failed'
  return error || recipients.some(({ verdict }) => verdict !== 'accepted') ? 'warning' : 'sent'
}

function EntryContent({ entry, trace }: { readonly entry: Entry; readonly trace: Trace }): JSX.Element {
  const { event, detail, message } = entry
  const w = allTexts()
  if (event === 'attempt') return <AttemptEntry detail={detail as unknown as AttemptDetail} message={message} />
  if (event === 'routed') return <RouteEntry entry={entry} trace={trace} />
  if (event === 'auto_suppressed' || event === 'suppressed') return <SuppressedEntry entry={entry} trace={trace} />
  if ('reported_at' in detail) return <ReportEntry entry={entry} trace={trace} />
  return (
    <>
      <Title>{Object.hasOwn(w.events, event) ? w.events[event as keyof typeof w.events] : event.replaceAll('_', ' ')}</Title>
      {'outcome' in detail ? <OutcomeSentence entry={entry} trace={trace} /> : <EntrySentence entry={entry} trace={trace} />}
      {event === 'accepted' && (
        <p class="details">
          <Fact name="submitted_by" value={String(detail['submitted_by'])} />
          <Fact
            name="mail_from"
            value={typeof detail['mail_from'] === 'string' && detail['mail_from'] !== '' ? detail['mail_from'] : '<>'}
          />
        </p>
      )}
      {event === 'released' && typeof detail['trace_id'] === 'string' && (
        <p>
          <a href={link(`/traces/${detail['trace_id']}`)}>{texts().openTrace}</a>
        </p>
      )}
      {event === 'accepted' && typeof detail['released_from'] === 'string' && (
        <p>
          <a href={link(`/traces/${detail['released_from']}`)}>{texts().capturedFirst}</a>
        </p>
      )}
      {event === 'captured' && <p>{<a href={link('/captures')}>{w.captures}</a>}</p>}
    </>
  )
}

/** Result of the routing. Omitted if a routing entry shows it already; a scheduled message is captured later, at its send time. */
function OutcomeSentence({ entry, trace }: { readonly entry: Entry; readonly trace: Trace }): JSX.Element | null {
  const { outcome } = useReasons(trace)
  const isLater = entry.event === 'captured' && entry.at !== trace.created_at
  if (entry.event === 'captured' && !isLater && trace.timeline.some(({ event }) => event === 'routed')) return null
  const own = isLater ? timelineTexts().timeCame : outcome
  if (own !== undefined) return <p>{own}</p>
  return (
    <p lang="en">
      <SafeText text={entry.message} />
    </p>
  )
}

const Title = ({ children, place }: { readonly children: ComponentChildren; readonly place?: ComponentChildren }): JSX.Element => (
  <h3>
    {children} {place !== undefined && <span>{place}</span>}
  </h3>
)

/** An API name with its verbatim value. */
const Fact = ({ name, value }: { readonly name: string; readonly value: string }): JSX.Element => (
  <span class="fact">
    {name}{' '}
    <code>
      <SafeText text={value} />
    </code>
  </span>
)
