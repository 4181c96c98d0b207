/** Reads request bodies of Stalwart's webhook. */
import { withCommas } from '#config/texts/formats.ts'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { objectIn, parseBody, unreadable, type Unreadable } from '../../events/json-value.ts'
import { readStalwartEvent } from './stalwart-event.ts'

/** An event and its index, from 0, in the list of events. */
export interface ReadEvent {
  readonly index: number
  readonly event: FeedbackEvent
  /** Domains of a complaint without a recipient; empty for all other events. */
  readonly domains: readonly string[]
}

export interface RejectedEntry {
  readonly index: number
  readonly reason: string
}

export interface StalwartReading {
  readonly events: readonly ReadEvent[]
  /** The first rejected entries. */
  readonly rejected: readonly RejectedEntry[]
  /** Number of rejected entries beyond the listed ones. */
  readonly rejectedMore: number
  /** Number of irrelevant events. */
  readonly ignored: number
}

const maxRejected = 1000
const maxEvents = 10_000

/** Reads `{events: […]}`, a plain array or a single event. An invalid event does not affect the others. */
export function readStalwartWebhook(body: Uint8Array): StalwartReading | Unreadable {
  const parsed = parseBody(body)
  if ('problems' in parsed) return parsed
  const list = eventsIn(parsed.value)
  if (!list) return unreadable('body', 'must be a Stalwart event, a list of them, or {"events": […]}')
  if (list.length > maxEvents) return unreadable('body', `must hold at most ${withCommas(maxEvents)} events`)
  const events: ReadEvent[] = []
  const rejected: RejectedEntry[] = []
  let rejectedMore = 0
  for (const [index, given] of list.entries()) {
    const outcome = readStalwartEvent(given)
    if (outcome.event) events.push({ index, ...outcome })
    else if (outcome.reason === null) continue
    else if (rejected.length < maxRejected) rejected.push({ index, reason: outcome.reason })
    else rejectedMore++
  }
  return { events, rejected, rejectedMore, ignored: list.length - events.length - rejected.length - rejectedMore }
}

/** The events in a body or line; undefined if it is neither an event nor an array. */
function eventsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  const fields = objectIn(value)
  if (fields && Array.isArray(fields['events'])) return fields['events']
  return fields && [fields]
}
