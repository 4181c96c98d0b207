/** Trace search: the filter of lists, counts and replays. */
import { domainToUnicode } from 'node:url'
import type { Database, Page, Sieve, Visibility } from '#store/database.ts'
import { recordsOf, sieve, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { foldAddress } from '../addresses.ts'
import { comparable } from './comparable.ts'
import type { TraceStatus } from './states.ts'
import { bounceOf, type Trace } from './trace.ts'
import { traceList } from './trace-walk.ts'

/** Properties of a trace that a search can require. */
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

/** Returns true if delivery failed, or a server deferred it. */
const isInError = ({ status, reply }: Trace['recipients'][number]): boolean =>
  status === 'failed' || status === 'bounced' || (status === 'queued' && reply !== undefined)

export interface TraceFilter extends OfProject {
  readonly status?: TraceStatus | undefined
  readonly outcome?: string | undefined
  /** Exact recipient, ignoring case. */
  readonly to?: string | undefined
  /** Exact header From or MAIL FROM, ignoring case. */
  readonly from?: string | undefined
  readonly destinationId?: string | undefined
  /** A recipient (with `to`, this recipient) bounced with this class, during or after delivery. */
  readonly bounce?: 'hard' | 'soft' | 'block' | undefined
  /** Has this tag, ignoring case. */
  readonly tag?: string | undefined
  /** Has this metadata, as `name:value`. */
  readonly metadata?: string | undefined
  /** Id or slug of the template. */
  readonly template?: string | undefined
  /** Has all these features. */
  readonly has?: readonly TraceFeature[] | undefined
  /** Text in the subject, an address of sender or recipients, or the Message-ID, ignoring case. */
  readonly q?: string | undefined
  /** Milliseconds since the epoch; `since` is inclusive, `until` exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** Maximum traces scanned per request; the cursor continues from there. */
const maxLooks = 2000

/** Decodes a raw Subject. */
type ReadSubject = (raw: string) => string
const asStored: ReadSubject = (raw) => raw

/** Returns the matching traces in reach, newest first or `ascending`. */
export async function matchingTraces(
  database: Database,
  reach: Visibility,
  { limit, cursor, ...search }: PageQuery & Search,
  readSubject = asStored,
): Promise<Page<Trace>> {
  const { walked, chosen } = searchOf(reach, search, readSubject)
  return recordsOf(await traceList(database, reach, { ...walked, limit, cursor }, chosen))
}

/** Numbers of the traces that match a filter. */
export interface TraceCounts {
  readonly total: number
  readonly counts: Readonly<Partial<Record<TraceStatus, number>>>
  /** Traces of any status with a bounced recipient, as with the feature `bounce`. */
  readonly bounces: number
  /** False if more traces follow after the scanned ones; the numbers are then minimums. */
  readonly complete: boolean
}

/** Counts the matching traces in reach among the newest 2,000. Keeps no trace in memory. */
export async function countTraces(
  database: Database,
  reach: Visibility,
  filter: TraceFilter,
  readSubject = asStored,
): Promise<TraceCounts> {
  const { walked, chosen } = searchOf(reach, filter, readSubject)
  const counts: Partial<Record<TraceStatus, number>> = {}
  let [total, bounces] = [0, 0]
  const counting: Sieve<Trace> = {
    ...chosen,
    sort(trace) {
      const fate = chosen.sort(trace)
      if (fate !== 'take') return fate
      total++
      counts[trace.status] = (counts[trace.status] ?? 0) + 1
      if (hasFeature.bounce(trace)) bounces++
      return 'pass'
    },
  }
  const { nextCursor } = await traceList(database, reach, { ...walked, limit: maxLooks }, counting)
  return { total, counts, bounces, complete: nextCursor === undefined }
}

type Search = TraceFilter & { readonly ascending?: boolean }

/** Returns the walk of a search, and the sieve for its traces. */
function searchOf(reach: Visibility, { ascending = false, ...filter }: Search, readSubject: ReadSubject) {
  const projectId = filter.projectId ?? (reach.bound ? reach.projectId : undefined)
  const { to, tag, since, until } = filter
  const walked = { projectId, to, tag, ...(ascending ? { ascending, since } : { before: until }) }
  return { walked, chosen: sieveOf({ ...filter, projectId, ascending }, readSubject) }
}

function sieveOf(filter: TraceFilter & { readonly ascending: boolean }, readSubject: ReadSubject): Sieve<Trace> {
  const { q, ascending, since = -Infinity, until = Infinity } = filter
  const wanted = q === undefined ? undefined : comparable(q)
  const fits = (trace: Trace) => passes(trace, filter) && (wanted === undefined || hasText(trace, readSubject(trace.subject), wanted))
  return sieve(fits, ({ createdAt }) => (ascending ? createdAt >= until : createdAt < since), maxLooks)
}

function hasText({ mailFrom, headerFrom, recipients, messageId }: Trace, subject: string, wanted: string): boolean {
  const texts = [mailFrom, headerFrom, ...recipients.map(({ address }) => address)].flatMap(spellings)
  return [...texts, messageId, subject].some((text) => comparable(text).includes(wanted))
}

/** Returns the address, and its form with a decoded internationalized domain (RFC 5890 §2.3.2.1). */
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

/** Checks the metadata. Checks the recipient if the list follows the tag index, which covers all recipients. */
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
