/** Findings about delivery: failing destinations, parked webhooks, and silent sources. Pure. */
import type { IngestSource } from '../ingest-sources/ingest-source.ts'
import type { SourcePoll, SourceSeen } from '../ingest-sources/source-status.ts'
import { nameServersSilent } from '../outbound/resolver.ts'
import { finding, type Finding } from './finding.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Breakers that are open for less than this time are not reported. */
const restingMs = 5 * minute
const silentMs = 3 * day
/** A new source is not reported during this time, because it is being set up. */
const newMs = 2 * day

interface Owned {
  readonly id: string
  readonly name: string
  readonly organizationName: string
}

/** Result of the last failed probe of a destination. */
export interface FailedProbe extends Owned {
  readonly problem: string
  /** Advice for the step that failed. */
  readonly advice: string
}

export const probeFindings = (probes: readonly FailedProbe[]): Finding[] =>
  probes.map(({ id, name, organizationName, problem, advice }) =>
    finding(
      'destination.probe_failed',
      id,
      `The destination ${name} (${organizationName}) cannot be used: ${sentence(problem)}`,
      `${advice} Then test it. Until then, its mail waits in the queue or fails over.`,
    ),
  )

export const breakerFindings = (
  resting: readonly (Owned & { readonly since: number | null; readonly reason: string | null })[],
  now: number,
): Finding[] =>
  resting
    .filter(({ since }) => since !== null && now - since >= restingMs)
    .map(({ id, name, organizationName, since, reason }) =>
      finding(
        'destination.resting',
        id,
        `The destination ${name} (${organizationName}) has been paused since ${new Date(since ?? 0).toISOString()}: ${sentence(reason ?? 'its attempts failed')}`,
        'Check the status of its provider, then test the destination; a successful test resumes it. A failover policy sends its mail elsewhere.',
      ),
    )

/** Parked deliveries of one receiver. */
export interface ParkedFacts {
  readonly endpointId: string
  readonly targetUrl: string | undefined
  readonly organizationName: string
  readonly count: number
  readonly isMore: boolean
  readonly lastError: string | null
}

export const parkedFindings = (parked: readonly ParkedFacts[]): Finding[] =>
  parked.map(({ endpointId, targetUrl, organizationName, count, isMore, lastError }) =>
    finding(
      'webhook.parked',
      endpointId,
      `${isMore ? 'At least ' : ''}${count} webhook ${count === 1 ? 'delivery' : 'deliveries'} to ${targetUrl ?? endpointId} (${organizationName}) ${count === 1 ? 'was' : 'were'} given up within a day: ${sentence(lastError ?? 'the receiver did not take them')}`,
      'Repair the receiver, then send the parked deliveries again: POST /v1/webhooks/attempts/{id}/redeliver.',
    ),
  )

export interface SourceFacts {
  readonly source: Pick<IngestSource, 'id' | 'label' | 'provider' | 'imap' | 'createdAt'>
  readonly organizationName: string
  readonly seen: SourceSeen | undefined
  readonly poll: SourcePoll | undefined
}

export function sourceFindings(sources: readonly SourceFacts[], now: number): Finding[] {
  return sources.flatMap(({ source, organizationName, seen, poll }) => {
    const name = `${source.label === '' ? source.id : source.label} (${source.provider}, ${organizationName})`
    if (source.imap) return pollFinding(source, name, poll, now)
    if (seen === undefined)
      return now - source.createdAt < newMs
        ? []
        : finding(
            'source.never_seen',
            source.id,
            `The ingest source ${name} has never reported.`,
            'Set up the mail server to post its events, or revoke the source.',
          )
    if (now - seen.at < silentMs) return []
    return finding(
      'source.silent',
      source.id,
      `The ingest source ${name} has been silent for ${Math.floor((now - seen.at) / day)} days: bounces that it knows of do not arrive.`,
      'Check that the posting program runs and has the current secret. Revoke the source if it is no longer used.',
    )
  })
}

function pollFinding({ id, imap, createdAt }: SourceFacts['source'], name: string, poll: SourcePoll | undefined, now: number): Finding[] {
  const since = poll?.lastPolledAt ?? createdAt
  const overdueMs = Math.max(hour, 10 * (imap?.pollIntervalSeconds ?? 0) * 1000)
  if (poll?.lastError == null || now - since < overdueMs) return []
  return [
    finding(
      'source.poll_failing',
      id,
      `The mailbox of the ingest source ${name} has not been read since ${new Date(since).toISOString()}: ${sentence(poll.lastError)}`,
      poll.lastError.startsWith(nameServersSilent.slice(0, -1))
        ? 'Check the network and the name servers of this service (POSTERN_DNS_SERVERS).'
        : 'The host, the login or the folder is wrong: create a new source with correct values, and revoke this one.',
    ),
  ]
}

/** Returns the text with a final full stop. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
