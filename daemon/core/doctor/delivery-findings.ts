/** Findings about delivery: failing destinations, parked webhooks, and silent sources. Pure. */
import type { BreakerView } from '../delivery/health/health-registry.ts'
import type { ProbeStep } from '../delivery/transport.ts'
import { observed, type Observed } from '../findings/finding.ts'
import type { IngestSource } from '../ingest-sources/ingest-source.ts'
import type { SourcePoll, SourceSeen } from '../ingest-sources/source-status.ts'
import { nameServersSilent } from '../outbound/resolver.ts'
import type { Destination } from '../routing/destination.ts'
import type { FailoverCause } from '../routing/failover-policy.ts'
import type { Policy } from '../routing/policy/policy.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const silentMs = 3 * day
/** A new source is not reported during this time, because it is being set up. */
const newMs = 2 * day

/** A destination, with the names of destinations that deliver its mail while it fails. */
export interface DestinationFacts {
  readonly destination: Pick<Destination, 'id' | 'name' | 'projectId' | 'shared'>
  readonly fallbacks: readonly string[]
}

/** Returns a destination with its live fallbacks for these causes. */
export function destinationFacts(
  destination: Destination,
  { failovers, destinations }: Pick<Policy, 'failovers' | 'destinations'>,
  reasons: readonly FailoverCause[],
): DestinationFacts {
  const failover = failovers.of(destination.projectId, destination.id)
  const isUsed = failover?.on.some((cause) => reasons.includes(cause)) ?? false
  const fallbacks = isUsed ? (failover?.fallbackIds ?? []).flatMap((id) => destinations.get(id) ?? []) : []
  return { destination, fallbacks: fallbacks.filter(({ mode }) => mode === 'live').map(({ name }) => name) }
}

/** Class of an error by its code. The reply of the server is not part of a finding. */
const causes: Readonly<Record<string, string>> = {
  dns_timeout: 'dns',
  dns_failed: 'dns',
  dns_not_found: 'name',
  address_forbidden: 'address',
  destination_misconfigured: 'settings',
  connect_refused: 'refused',
  connect_timeout: 'timeout',
  connect_failed: 'connection',
  connection_lost: 'connection',
  tls_verification_failed: 'certificate',
  tls_failed: 'tls',
  tls_timeout: 'tls',
  starttls_unavailable: 'starttls',
  auth_needs_tls: 'cleartext',
  auth_unavailable: 'login',
  auth_failed: 'login',
  greeting_timeout: 'greeting',
  greeting_refused: 'greeting',
}
const causesByStep: Readonly<Record<string, string>> = {
  resolve: 'dns',
  connect: 'connection',
  tls: 'tls',
  greeting: 'greeting',
  auth: 'login',
}

/** The project of a finding; empty for a destination that the organization shares. */
const ownerOf = ({ shared, projectId }: DestinationFacts['destination']): string => (shared === undefined ? projectId : '')

const paramsOf = ({ destination: { name }, fallbacks }: DestinationFacts) => ({
  ...{ name, fallbacks: fallbacks.length, fallback: fallbacks[0] ?? '' },
})

/** `step`: the failed step of the last probe. */
export function probeFinding(facts: DestinationFacts, { step, code = '' }: Pick<ProbeStep, 'step' | 'code'>): Observed {
  const { destination } = facts
  const cause = causes[code] ?? causesByStep[step] ?? 'other'
  return observed('destination.probe_failed', destination.id, { ...paramsOf(facts), cause, step, code }, ownerOf(destination))
}

/** Returns nothing for a closed breaker. */
export function breakerFinding(
  facts: DestinationFacts,
  { phase, since, cause }: Pick<BreakerView, 'phase' | 'since' | 'cause'>,
): readonly Observed[] {
  if (phase === 'closed' || since === null) return []
  const { destination } = facts
  const code = cause?.error.code ?? ''
  const params = { ...paramsOf(facts), counted: 'no', waiting: 0, sinceAt: since, cause: causes[code] ?? 'other', code }
  return [observed('destination.resting', destination.id, params, ownerOf(destination))]
}

/** Parked deliveries of one receiver. */
export interface ParkedFacts {
  readonly endpointId: string
  readonly projectId: string
  /** Name of the endpoint, or host of the receiver. */
  readonly name: string
  readonly count: number
  readonly isMore: boolean
  /** Given up within a day: alerts report only these. */
  readonly isRecent: boolean
  /** Status of the last answer; null without an answer. */
  readonly lastStatusCode: number | null
}

export const parkedFinding = ({ endpointId, projectId, name, count, isMore, isRecent, lastStatusCode }: ParkedFacts): Observed => ({
  ...observed('webhook.parked', endpointId, { name, count, more: isMore ? 'yes' : 'no', status: lastStatusCode ?? 0 }, projectId),
  severity: isRecent ? 'error' : 'warning',
})

export interface SourceFacts {
  readonly source: Pick<IngestSource, 'id' | 'label' | 'provider' | 'imap' | 'createdAt'>
  readonly seen: SourceSeen | undefined
  readonly poll: SourcePoll | undefined
}

export function sourceFindings({ source, seen, poll }: SourceFacts, now: number): Observed[] {
  const { id, label, provider, createdAt } = source
  const params = { name: label === '' ? id : label, provider }
  if (source.imap) return pollFindings(source, params, poll, now)
  if (seen === undefined) return now - createdAt < newMs ? [] : [observed('source.never_seen', id, params)]
  if (now - seen.at < silentMs) return []
  return [observed('source.silent', id, { ...params, days: Math.floor((now - seen.at) / day) })]
}

function pollFindings(
  { id, imap, createdAt }: SourceFacts['source'],
  params: { readonly name: string; readonly provider: string },
  poll: SourcePoll | undefined,
  now: number,
): Observed[] {
  const since = poll?.lastPolledAt ?? createdAt
  const overdueMs = Math.max(hour, 10 * (imap?.pollIntervalSeconds ?? 0) * 1000)
  if (poll?.lastError == null || now - since < overdueMs) return []
  const cause = poll.lastError.startsWith(nameServersSilent.slice(0, -1)) ? 'dns' : 'settings'
  return [observed('source.poll_failing', id, { ...params, sinceAt: since, cause })]
}
