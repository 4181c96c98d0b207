/** How traces are shown to people: a label and a tone for each status, a line for each event of a timeline. */
import { atFirstUse } from '#config/words/formats.ts'
import type { TraceStatus } from '#core/trace/states.ts'
import type { TimelineEntry } from '#core/trace/story/timeline.ts'
import { html, type Html } from '../layout/html.ts'

/** What a tone stands for: a good end, a bad end, under way, kept, something to look at, or nothing of these. */
export type Tone = 'good' | 'bad' | 'sent' | 'held' | 'warn' | 'soft'

interface StatusWords {
  readonly label: string
  readonly tone: Tone
  readonly sentence: string
}

const statuses: Readonly<Record<TraceStatus, StatusWords>> = {
  pending: { label: 'pending', tone: 'soft', sentence: 'The message waits until a member of the organization has approved it.' },
  queued: { label: 'queued', tone: 'soft', sentence: 'The message is queued for its next delivery attempt.' },
  sent: { label: 'sent', tone: 'sent', sentence: 'The mail provider accepted the message. No report has been received yet.' },
  delivered: { label: 'delivered', tone: 'good', sentence: 'The message was delivered to the mail server of the recipient.' },
  failed: { label: 'failed', tone: 'bad', sentence: 'The message could not be delivered.' },
  bounced: { label: 'bounced', tone: 'bad', sentence: 'The message bounced: the mail server of the recipient refused it.' },
  complained: { label: 'complained', tone: 'bad', sentence: 'The message was delivered, and its recipient reported it as spam.' },
  suppressed: { label: 'suppressed', tone: 'warn', sentence: 'The message was not sent: the recipient is suppressed.' },
  captured: { label: 'captured', tone: 'held', sentence: 'The message was captured in a virtual inbox instead of being sent.' },
  canceled: { label: 'canceled', tone: 'soft', sentence: 'The message was canceled before it was sent.' },
  validation_failed: { label: 'validation failed', tone: 'warn', sentence: 'The request was refused, and no message was created.' },
}

export const statusWords = (status: string): StatusWords =>
  Object.hasOwn(statuses, status)
    ? statuses[status as TraceStatus]
    : { label: status.replaceAll('_', ' '), tone: 'soft', sentence: 'The message was taken up.' }

/** The word of a status with its tone. */
export const statusTag = (status: string): Html => {
  const { label, tone } = statusWords(status)
  return html`<span class="tag tone-${tone}">${label}</span>`
}

const events: Readonly<Record<TimelineEntry['event'], readonly [label: string, tone: Tone]>> = {
  accepted: ['Accepted', 'soft'],
  routed: ['Destination decided', 'soft'],
  queued: ['Queued for delivery', 'soft'],
  scheduled: ['Scheduled', 'soft'],
  captured: ['Captured instead of sent', 'held'],
  released: ['Released from captured mail', 'soft'],
  validation_failed: ['Refused', 'bad'],
  suppressed: ['Suppressed', 'warn'],
  verp: ['Return path decided', 'soft'],
  dialect: ['Sent over the API of another service', 'soft'],
  attempt: ['Delivery attempt', 'sent'],
  retry_scheduled: ['Next attempt scheduled', 'warn'],
  replayed: ['Queued again by a replay', 'soft'],
  retried: ['Queued again on request', 'soft'],
  failover: ['Failed over to another provider', 'warn'],
  waiting: ['Waiting', 'warn'],
  sent: ['Taken by the provider', 'good'],
  partly_sent: ['Accepted by the provider for some recipients', 'warn'],
  failed: ['Given up', 'bad'],
  canceled: ['Canceled', 'soft'],
  held: ['Held in the queue', 'held'],
  hold_released: ['Released from its hold', 'soft'],
  expedited: ['Next attempt made due at once', 'soft'],
  dropped: ['Dropped from the queue', 'bad'],
  approval_requested: ['Waiting for approval', 'held'],
  approved: ['Approved', 'good'],
  refused: ['Refused by a person', 'bad'],
  expired: ['Not approved in time', 'warn'],
  withdrawn: ['Withdrawn', 'soft'],
  tracking: ['Tracking decided', 'soft'],
  opened: ['Opened', 'good'],
  clicked: ['Link clicked', 'good'],
  delivered: ['Delivered', 'good'],
  bounced: ['Bounced', 'bad'],
  complained: ['Reported as spam', 'bad'],
  deferred: ['Delayed', 'warn'],
  bounce_unparsed: ['Unreadable report', 'warn'],
  auto_suppressed: ['Recipient suppressed', 'warn'],
}

export interface ShownEntry {
  readonly at: number
  readonly event: string
  /** Left out where the reader must not know more. */
  readonly message?: string
}

const dayFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }))
const clockFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' }))

/** The timeline of a trace, the first event on top. The day stands where it changes. */
export function timeline(entries: readonly ShownEntry[]): Html {
  const days = entries.map(({ at }) => dayFormat().format(at))
  return html`<ol class="story">
    ${entries.map(({ at, event, message }, i) => {
      const [label, tone] = Object.hasOwn(events, event) ? events[event as TimelineEntry['event']] : [event.replaceAll('_', ' '), 'soft']
      return html`<li class="tone-${tone}">
        <time datetime="${new Date(at).toISOString()}"
          >${days[i] !== days[i - 1] && html`<span>${days[i]}</span>`} ${clockFormat().format(at)}</time
        >
        <div>
          <h3>${label}</h3>
          ${message !== undefined && html`<p>${message}</p>`}
        </div>
      </li>`
    })}
  </ol>`
}
