/** Deliverability tests, composed: the tests, and what scores their mails. */
import type { Config } from '#config/settings/load.ts'
import type { Clock } from '#core/clock.ts'
import { InspectTests } from '#core/inspect/inspect-tests.ts'
import type { InspectScorer } from '#core/inspect/report.ts'
import { InspectScoring } from '#core/inspect/scoring.ts'
import { systemLookUp, type LookUp, type Resolver } from '#core/outbound/resolver.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import { dnsListOf } from '#ingest/dns/dns-lists.ts'
import { policyFetcher } from '#ingest/dns/mta-sts.ts'
import { ThreadScorer } from '#ingest/inspect/thread-scorer.ts'
import type { Database } from '#store/database.ts'
import { publicFetch } from './oauth-core.ts'

export interface InspectParts {
  readonly config: Pick<Config, 'inspect' | 'inboundDomain' | 'outbound'>
  readonly database: Database
  readonly policies: Policies
  readonly clock: Clock
  readonly resolver: Resolver
  /** In place of the name servers of the configuration. */
  readonly lookUp?: LookUp | undefined
  /** In place of threads. */
  readonly scorer?: (InspectScorer & AsyncDisposable) | undefined
  readonly onError: (error: unknown, testId: string) => void
}

export interface Inspect {
  readonly inspectTests: InspectTests
  /** To be started and stopped. */
  readonly inspectScoring: InspectScoring
}

export function inspectCore({ config, lookUp, resolver, ...parts }: InspectParts): Inspect {
  const { domain, dnsLists, mtaSts } = config.inspect
  const resolve = lookUp ?? systemLookUp(config.outbound.dnsServers)
  const fetchPolicy = mtaSts === 'fetch' ? policyFetcher(publicFetch(resolver, parts.clock)) : undefined
  const scorer = parts.scorer ?? new ThreadScorer({ clock: parts.clock, resolve, lists: dnsLists.map(dnsListOf), fetchPolicy })
  const inspectScoring = new InspectScoring({ ...parts, scorer })
  const inspectTests = new InspectTests({ ...parts, domain: domain ?? config.inboundDomain, onReceived: () => inspectScoring.wake() })
  return { inspectTests, inspectScoring }
}
