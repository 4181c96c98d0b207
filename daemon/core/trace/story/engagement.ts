/**
 * What recipients did with a message: openings and clicks, in a record beside the trace. Its size is bounded, as anybody who has
 * the message can open it as often as they like. Neither addresses of clients nor their programs are kept.
 */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { TimelineEntry } from './timeline.ts'
import type { Trace } from '../trace.ts'
import { untrackedReasons, type TraceTracking } from '../trace-tracking.ts'

/** A click in full. */
export interface SeenClick {
  readonly at: number
  /** Place of the link in the message, from 1. */
  readonly link: number
  readonly url: string
}

const schema = z.strictObject({
  /** Of the trace. */
  id: z.uuidv4(),
  projectId: z.string(),
  /** How often the image was loaded, and links followed. */
  opens: z.int(),
  clicks: z.int(),
  /** The first of them; the rest are only counted. */
  firstOpens: z.array(z.int()),
  firstClicks: z.array(z.strictObject({ at: z.int(), link: z.int(), url: z.string() })),
})

export type Engagement = Immutable<z.infer<typeof schema>>

export const engagements = defineRecord<Engagement>({
  name: 'engagement',
  schema,
  projectOf: (engagement) => engagement.projectId,
})

/** Of openings and of clicks, so many are kept with their times. */
export const keptEvents = 20

/** What was seen of a message since it was last written down. */
export type Seen = Pick<Engagement, 'opens' | 'clicks' | 'firstOpens' | 'firstClicks'>

export const nothingSeen: Seen = { opens: 0, clicks: 0, firstOpens: [], firstClicks: [] }

/** Both, in this order. */
export function joinSeen(first: Seen, then: Seen): Seen {
  return {
    opens: first.opens + then.opens,
    clicks: first.clicks + then.clicks,
    firstOpens: [...first.firstOpens, ...then.firstOpens].slice(0, keptEvents),
    firstClicks: [...first.firstClicks, ...then.firstClicks].slice(0, keptEvents),
  }
}

/** What tracking adds to the timeline of a trace; nothing of it is for the public view. */
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
