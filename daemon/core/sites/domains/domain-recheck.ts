/** Checks verified domains of sites again, because DNS records can change. One daemon does this in the background. */
import type { Core } from '../../core.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { TimedRounds } from '../../work-loop.ts'
import { sites, type SiteDomain } from '../site.ts'
import type { SiteDomains } from './site-domains.ts'

export interface DomainRecheckOptions extends Core {
  readonly domains: Pick<SiteDomains, 'recheck'>
  readonly onError: (error: unknown) => void
}

const hour = 3_600_000
/** Interval for domains without problem; domains with a problem are checked every round. */
const rightMs = 12 * hour

export const domainRecheck = (options: DomainRecheckOptions): TimedRounds =>
  new TimedRounds({ ...options, everyMs: hour, round: (stopping) => round(options, stopping) })

async function round({ database, domains, clock, onError }: DomainRecheckOptions, stopping: () => boolean): Promise<void> {
  for await (const { id: organizationId, deletedAt } of allOrganizations(database)) {
    if (deletedAt !== undefined) continue
    for (const { record } of await database.all(sites, { organizationId }))
      for (const domain of record.domains) {
        if (stopping()) return
        if (isDue(domain, clock.now())) await domains.recheck(organizationId, record, domain.name).catch(onError)
      }
  }
}

const isDue = ({ verifiedAt, checkedAt, problem }: SiteDomain, now: number): boolean =>
  verifiedAt !== null && now - (checkedAt ?? 0) >= (problem === null ? rightMs : hour)
