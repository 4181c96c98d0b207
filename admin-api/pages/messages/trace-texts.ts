/** Traces for people: a label and a tone for each status, and a line for each event. English by default. */
import { byLanguage, localeOf } from '#config/texts/formats.ts'
import type { TraceStatus } from '#core/trace/states.ts'
import type { TimelineEntry } from '#core/trace/timeline/send-timeline.ts'
import { html, type Html } from '../layout/html.ts'
import { inEnglish } from '../layout/page-texts.ts'
import { textsIn, type PageTexts } from '../texts/texts-for.ts'

/** Tones: success, failure, in progress, captured, needs attention, and neutral. */
export type Tone = 'good' | 'bad' | 'sent' | 'held' | 'warn' | 'soft'

const statusTones: Readonly<Record<TraceStatus, Tone>> = {
  pending: 'soft',
  queued: 'soft',
  sent: 'sent',
  delivered: 'good',
  failed: 'bad',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
  captured: 'held',
  canceled: 'soft',
  validation_failed: 'warn',
}

const isStatus = (status: string): status is TraceStatus => Object.hasOwn(statusTones, status)

/** Returns `label` and `sentence` of a status. For an unknown status, the label is its plain text. */
export const statusText = (status: string, texts: PageTexts = textsIn('en')): { readonly label: string; readonly sentence: string } =>
  isStatus(status) ? texts.trace.statuses[status] : { label: status.replaceAll('_', ' '), sentence: texts.trace.taken }

/** Returns the label of a status with its tone. */
export const statusTag = (status: string, texts: PageTexts = textsIn('en')): Html =>
  html`<span class="tag tone-${isStatus(status) ? statusTones[status] : 'soft'}">${statusText(status, texts).label}</span>`

const eventTones: Readonly<Record<TimelineEntry['event'], Tone>> = {
  accepted: 'soft',
  routed: 'soft',
  queued: 'soft',
  scheduled: 'soft',
  captured: 'held',
  released: 'soft',
  validation_failed: 'bad',
  suppressed: 'warn',
  verp: 'soft',
  dialect: 'soft',
  attempt: 'sent',
  retry_scheduled: 'warn',
  replayed: 'soft',
  retried: 'soft',
  failover: 'warn',
  waiting: 'warn',
  sent: 'good',
  partly_sent: 'warn',
  failed: 'bad',
  canceled: 'soft',
  held: 'held',
  hold_released: 'soft',
  expedited: 'soft',
  dropped: 'bad',
  approval_requested: 'held',
  approved: 'good',
  refused: 'bad',
  expired: 'warn',
  withdrawn: 'soft',
  tracking: 'soft',
  opened: 'good',
  clicked: 'good',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  deferred: 'warn',
  bounce_unparsed: 'warn',
  auto_suppressed: 'warn',
  author_notified: 'soft',
  notice_withheld: 'warn',
}

const isEvent = (event: string): event is TimelineEntry['event'] => Object.hasOwn(eventTones, event)

export interface ShownEntry {
  readonly at: number
  readonly event: string
  /** Undefined if the reader may not see it. */
  readonly message?: string
  /** Replaces the label of the event. */
  readonly heading?: { readonly label: string; readonly tone: Tone } | undefined
  readonly details?: Html | undefined
}

const formatsOf = byLanguage((lang: PageTexts['lang']) => ({
  day: new Intl.DateTimeFormat(localeOf(lang), { dateStyle: 'medium', timeZone: 'UTC' }),
  clock: new Intl.DateTimeFormat(localeOf(lang), { timeStyle: 'medium', timeZone: 'UTC' }),
}))

const headingOf = (event: string, { trace }: PageTexts): NonNullable<ShownEntry['heading']> =>
  isEvent(event) ? { label: trace.events[event], tone: eventTones[event] } : { label: event.replaceAll('_', ' '), tone: 'soft' }

/** Returns the timeline of a trace, oldest event first. An entry has the date if it differs from the previous date. */
export function timeline(entries: readonly ShownEntry[], texts: PageTexts = textsIn('en')): Html {
  const { day, clock } = formatsOf(texts.lang)
  const days = entries.map(({ at }) => day.format(at))
  return html`<ol class="trace-timeline">
    ${entries.map(({ at, event, message, heading, details }, i) => {
      const { label, tone } = heading ?? headingOf(event, texts)
      return html`<li class="tone-${tone}">
        <time datetime="${new Date(at).toISOString()}"
          >${days[i] !== days[i - 1] && html`<span>${days[i]}</span>`} ${clock.format(at)}</time
        >
        <div>
          <h3>${label}</h3>
          ${message !== undefined && html`<p ${inEnglish(texts)}>${message}</p>`} ${details}
        </div>
      </li>`
    })}
  </ol>`
}
