/** Composes deliverability tests and the scoring of their mails. */
import { reported } from '#core/activity.ts'
import { InspectTests } from '#core/inspect/inspect-tests.ts'
import { InspectScoring } from '#core/inspect/scoring.ts'
import { dnsListOf } from '#ingest/dns/dns-lists.ts'
import { policyFetcher } from '#ingest/dns/mta-sts.ts'
import { ThreadScorer } from '#ingest/inspect/thread-scorer.ts'
import { publicFetch } from './oauth-core.ts'
import { systemLookUp } from '#core/outbound/resolver.ts'
import type { Inspect } from './composed.ts'
import { guardOf, type Composition } from './parts.ts'
import { workNames } from './works/work-names.ts'

export function inspectCore({ get, config, replace }: Composition, onError: (error: unknown, testId: string) => void): Inspect {
  const { domain, dnsLists, mtaSts } = config.inspect
  const parts = { ...get('core'), onError }
  const { clock } = parts
  const resolve = replace.lookUp ?? systemLookUp(config.outbound.dnsServers)
  const fetchPolicy = mtaSts === 'fetch' ? policyFetcher(publicFetch(get('resolver'), clock, guardOf({ replace }, []))) : undefined
  const scorer =
    replace.scorer ??
    reported(get('activity'), new ThreadScorer({ clock, resolve, lists: dnsLists.map(dnsListOf), fetchPolicy }), {
      score: 'scoring of a mail',
    })
  const inspectScoring = new InspectScoring({ ...parts, scorer })
  const onReceived = (): void => parts.database.daemons.wake(workNames.inspectScoring, () => inspectScoring.wake())
  const inspectTests = new InspectTests({ ...parts, domain: domain ?? config.inboundDomain, onReceived })
  return { inspectTests, inspectScoring }
}
