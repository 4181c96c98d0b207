/** Traces by what is known of them: the filter of lists and replays. */
import { domainToUnicode } from 'node:url'
import type { Database, Page, Sieve, Visibility } from '#store/database.ts'
import { recordsOf, sieve, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { foldAddress } from '../addresses.ts'
import { comparable } from './comparable.ts'
import type { TraceStatus } from './states.ts'
import { bounceOf, type Trace } from './trace.ts'
import { traceList } from './trace-walk.ts'

/** What a trace can be looked for by having it. */
export const traceFeatures = ['attachment', 'bounce', 'error', 'report', 'retry', 'template', 'tracking', 'unsubscribe'] as const
export type TraceFeature = (typeof traceFeatures)[number]

const hasFeature: Readonly<Record<TraceFeature, (trace: Trace) => boolean>> = {
  attachment: ({ hasAttachment }) => hasAttachment === true,
  bounce: ({ recipients }) => recipients.some((one) => bounceOf(one) !== null),
  error: ({ recipients, status }) => status === 'failed' || status === 'validation_failed' || recipients.some(isInError),
  report: ({ recipients }) => recipients.some(({ report }) => report !== undefined),
  retry: ({ attempts, replays = [] }) => attempts > 1 || replays.length > 0,
  template: ({ template }) => template !== undefined,
  tracking: ({ tracking }) => tracking !== undefined,
  unsubscribe: ({ hasUnsubscribeLink }) => hasUnsubscribeLink === true,
}

/** It did not reach the recipient, or a server put it off. */
const isInError = ({ status, reply }: Trace['recipients'][number]): boolean =>
  status === 'failed' || status === 'bounced' || (status === 'queued' && reply !== undefined)

export interface TraceFilter extends OfProject {
  readonly status?: TraceStatus | undefined
  readonly outcome?: string | undefined
  /** Exactly this recipient, in any case. */
  readonly to?: string | undefined
  /** Exactly this header From or MAIL FROM, in any case. */
  readonly from?: string | undefined
  readonly destinationId?: string | undefined
  /** A recipient (with `to`, this one) had a bounce of this class: reported after the message had left, or refused for good before. */
  readonly bounce?: 'hard' | 'soft' | 'block' | undefined
  /** It has this tag, in any case. */
  readonly tag?: string | undefined
  /** It has this metadata: name and value, with a colon between them. */
  readonly metadata?: string | undefined
  /** Id or slug of the template that it was rendered from. */
  readonly template?: string | undefined
  /** It has all of these. */
  readonly has?: readonly TraceFeature[] | undefined
  /** Stands in the subject, in an address of sender or recipients, or in the Message-ID; in any case. */
  readonly q?: string | undefined
  /** Milliseconds since the epoch, inclusive and exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** One request looks at so many traces at most; the cursor goes on from there. */
const maxLooks = 2000

/** The traces that a filter finds in the reach: the newest first, or `ascending`. `readSubject` makes the text of a raw Subject. */
export async function matchingTraces(
  database: Database,
  reach: Visibility,
  { limit, cursor, ascending = false, ...filter }: PageQuery & TraceFilter & { readonly ascending?: boolean },
  readSubject = (raw: string): string => raw,
): Promise<Page<Trace>> {
  const projectId = filter.projectId ?? (reach.bound ? reach.projectId : undefined)
  const { to, tag } = filter
  const walked = { projectId, to, tag, limit, cursor, ...(ascending && { ascending, since: filter.since }) }
  return recordsOf(await traceList(database, reach, walked, sieveOf({ ...filter, projectId, ascending }, readSubject)))
}

function sieveOf(filter: TraceFilter & { readonly ascending: boolean }, readSubject: (raw: string) => string): Sieve<Trace> {
  const { q, ascending, since = -Infinity, until = Infinity } = filter
  const wanted = q === undefined ? undefined : comparable(q)
  const fits = (trace: Trace) => passes(trace, filter) && (wanted === undefined || hasText(trace, readSubject(trace.subject), wanted))
  return sieve(fits, ({ createdAt }) => (ascending ? createdAt >= until : createdAt < since), maxLooks)
}

function hasText({ mailFrom, headerFrom, recipients, messageId }: Trace, subject: string, wanted: string): boolean {
  const texts = [mailFrom, headerFrom, ...recipients.map(({ address }) => address)].flatMap(spellings)
  return [...texts, messageId, subject].some((text) => comparable(text).includes(wanted))
}

/** An address, and with it the form in which people read an internationalized domain (RFC 5890 §2.3.2.1). */
function spellings(address: string): string[] {
  const at = address.lastIndexOf('@') + 1
  return address.toLowerCase().includes('xn--', at) ? [address, address.slice(0, at) + domainToUnicode(address.slice(at))] : [address]
}

function passes(trace: Trace, filter: TraceFilter): boolean {
  const from = filter.from === undefined ? undefined : foldAddress(filter.from)
  return (
    (filter.projectId === undefined || trace.projectId === filter.projectId) &&
    (filter.status === undefined || trace.status === filter.status) &&
    (filter.outcome === undefined || trace.outcome === filter.outcome) &&
    hasBounce(trace, filter) &&
    hasLabels(trace, filter) &&
    (filter.template === undefined || trace.template?.id === filter.template || trace.template?.slug === filter.template) &&
    (filter.has ?? []).every((feature) => hasFeature[feature](trace)) &&
    (filter.destinationId === undefined || trace.destinationId === filter.destinationId) &&
    (filter.since === undefined || trace.createdAt >= filter.since) &&
    (filter.until === undefined || trace.createdAt < filter.until) &&
    (from === undefined || foldAddress(trace.headerFrom) === from || foldAddress(trace.mailFrom) === from)
  )
}

/** A list of one tag is of all recipients. */
function hasLabels({ metadata = {}, recipients }: Trace, { tag, to, metadata: wanted }: TraceFilter): boolean {
  if (wanted !== undefined && !Object.entries(metadata).some(([name, value]) => `${name}:${value}` === wanted)) return false
  if (tag === undefined || to === undefined) return true
  const address = foldAddress(to)
  return recipients.some((one) => foldAddress(one.address) === address)
}

function hasBounce({ recipients }: Trace, { bounce, to }: TraceFilter): boolean {
  if (bounce === undefined) return true
  const address = to === undefined ? undefined : foldAddress(to)
  return recipients.some((one) => bounceOf(one) === bounce && (address === undefined || foldAddress(one.address) === address))
}
