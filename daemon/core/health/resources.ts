/** What the health of each kind of resource is read from. */
import type { Database } from '#store/database.ts'
import type { ShownDomain } from '../domains/sending-domains.ts'
import type { Finding } from '../findings/finding.ts'
import type { FindingKind } from '../findings/kinds.ts'
import type { InboundRoute } from '../inbound-routes/route.ts'
import type { SourceDetails } from '../ingest-sources/ingest-sources.ts'
import type { Site } from '../sites/site.ts'
import type { WebhookEndpoint } from '../webhooks/endpoint.ts'
import { receiverHealth } from '../webhooks/receiver-health.ts'
import type { Results } from './health.ts'

/** A kind of resource with health. */
export interface HealthSource<R> {
  readonly isAbout: (resource: R, finding: Finding) => boolean
  readonly results: (database: Database, organizationId: string, resource: R) => Results | Promise<Results>
}

const receiver = (failing: FindingKind): HealthSource<{ readonly id: string }> => ({
  isAbout: ({ id }, { kind, subject }) => subject === id && (kind === failing || kind === 'webhook.parked'),
  async results(database, organizationId, { id }) {
    const seen = (await database.get(receiverHealth, { organizationId }, id))?.record
    const { lastSuccessAt = null, failures = 0, failingSince = null, lastReply = null } = seen ?? {}
    return { isGood: seen !== undefined && failures === 0, lastSuccessAt, failuresInARow: failures, failingSince, lastReply }
  },
})

export const endpointHealth: HealthSource<WebhookEndpoint> = receiver('webhook.failing')
export const routeHealth: HealthSource<InboundRoute> = receiver('inbound.failing')

const sourceKinds: readonly FindingKind[] = ['source.poll_failing', 'source.silent', 'source.never_seen']

/** A success is a report, or a poll of the mailbox. */
export const sourceHealth: HealthSource<SourceDetails> = {
  isAbout: ({ source }, { kind, subject }) => subject === source.id && sourceKinds.includes(kind),
  results(_database, _organizationId, { source, seen, poll }) {
    const times = [seen?.at ?? null, poll?.lastPolledAt ?? null].filter((at) => at !== null)
    const isPolled = source.imap !== null
    return {
      isGood: isPolled ? poll?.lastPolledAt != null && poll.lastError === null : seen !== undefined,
      lastSuccessAt: times.length === 0 ? null : Math.max(...times),
      failingSince: isPolled && poll?.lastError != null ? poll.lastPolledAt : null,
    }
  },
}

const domainKinds: readonly FindingKind[] = [
  'domain.dkim',
  'domain.spf',
  'domain.dmarc',
  'domain.bounce_mx',
  'domain.bounce_spf',
  'domain.pending',
  'domain.lookup_failed',
]

/** A success is a look-up that found all required records. */
export const domainHealth: HealthSource<ShownDomain> = {
  isAbout: ({ domain }, { kind, params }) => params['domain'] === domain.domain && domainKinds.includes(kind),
  results(_database, _organizationId, { domain: { check }, records }) {
    const isGood = check !== null && records.every((record) => !record.required || record.check?.verdict === 'ok')
    return { isGood, lastSuccessAt: isGood ? check.at : null }
  },
}

/** A success is a look-up of its verified domains without a problem. A site without own domains has nothing to check. */
export const siteHealth: HealthSource<Pick<Site, 'domains'>> = {
  isAbout: ({ domains }, { kind, subject }) => kind === 'site.domain' && domains.some(({ name }) => name === subject),
  results(_database, _organizationId, { domains }) {
    const verified = domains.filter(({ verifiedAt }) => verifiedAt !== null)
    const isGood = verified.every(({ problem }) => problem === null)
    const checks = verified.map(({ checkedAt, verifiedAt }) => checkedAt ?? verifiedAt ?? 0)
    return { isGood, lastSuccessAt: isGood && checks.length > 0 ? Math.min(...checks) : null }
  },
}
