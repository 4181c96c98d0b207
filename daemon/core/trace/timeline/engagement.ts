/**
 * Opens and clicks of a message, in a record with the trace's id. Its size is bounded, because anyone with the message can open it
 * repeatedly. Client addresses and user agents are not stored.
 */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { TimelineEntry } from './send-timeline.ts'
import type { Trace } from '../trace.ts'
import { untrackedReasons, type TraceTracking } from '../trace-tracking.ts'

/** A click with its details. */
export interface SeenClick {
  readonly at: number
  /** Position of the link in the message, from 1. */
  readonly link: number
  readonly url: string
}

const schema = z.strictObject({
  /** Trace id. */
  id: z.uuidv4(),
  projectId: z.string(),
  /** Total loads of the image and visits of links. */
  opens: z.int(),
  clicks: z.int(),
  /** The first events; later events are only counted. */
  firstOpens: z.array(z.int()),
  firstClicks: z.array(z.strictObject({ at: z.int(), link: z.int(), url: z.string() })),
})

export type Engagement = Immutable<z.infer<typeof schema>>

export const engagements = defineRecord<Engagement>({
  name: 'engagement',
  schema,
  projectOf: (engagement) => engagement.projectId,
})

/** Number of opens and of clicks stored with their times. */
export const keptEvents = 20

/** Events since the last write. */
export type Seen = Pick<Engagement, 'opens' | 'clicks' | 'firstOpens' | 'firstClicks'>

export const nothingSeen: Seen = { opens: 0, clicks: 0, firstOpens: [], firstClicks: [] }

/** Joins both in order. */
export function joinSeen(first: Seen, then: Seen): Seen {
  return {
    opens: first.opens + then.opens,
    clicks: first.clicks + then.clicks,
    firstOpens: [...first.firstOpens, ...then.firstOpens].slice(0, keptEvents),
    firstClicks: [...first.firstClicks, ...then.firstClicks].slice(0, keptEvents),
  }
}

/** Timeline entries of tracking. The public view excludes them. */
export function engagementEntries({ tracking, recipients, createdAt }: Trace, engagement: Engagement | undefined): TimelineEntry[] {
  if (!tracking) return []
  const reached = recipients.filter(({ status }) => status !== 'suppressed')
  const recipient = reached.length === 1 ? (reached[0]?.address ?? null) : null
  const who = recipient ?? `one of its ${reached.length} recipients`
  const opens = engagement?.firstOpens.map((at): TimelineEntry => ({
    at,
    event: 'opened',
    message: `Opened by ${who}: its image was loaded.`,
    detail: { recipient },
  }))
  const clicks = engagement?.firstClicks.map(({ at, link, url }): TimelineEntry => ({
    at,
    event: 'clicked',
    message: `Link ${link} was followed by ${who}.`,
    detail: { recipient, link, url },
  }))
  return [trackingEntry(tracking, createdAt), ...[...(opens ?? []), ...(clicks ?? [])].toSorted((a, b) => a.at - b.at)]
}

function trackingEntry({ clicks, links, opens, off }: TraceTracking, at: number): TimelineEntry {
  const on = [...(clicks ? [`clicks on ${links} ${links === 1 ? 'link' : 'links'}`] : []), ...(opens ? ['openings'] : [])]
  const message = on.length > 0 ? `Tracked: ${on.join(' and ')}` : 'Neither clicks nor opens are tracked'
  const why = off ? `${on.length > 0 ? '; the rest is not' : ''}, because ${untrackedReasons[off]}` : ''
  return { at, event: 'tracking', message: `${message}${why}.`, detail: { clicks, links, opens, untracked_reason: off ?? null } }
}
