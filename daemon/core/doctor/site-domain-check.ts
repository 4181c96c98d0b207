/** Reports verified domains of websites that no longer serve them, as the latest DNS check found. Reads only the store. */
import type { Core } from '../core.ts'
import { sites } from '../sites/site.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import type { Check } from './check.ts'
import { finding, type Finding } from './finding.ts'

const everyMs = 3_600_000

/** A verified domain with its problem. */
export interface SiteDomainFacts {
  readonly domain: string
  readonly slug: string
  readonly organizationName: string
  readonly problem: string | null
}

export const siteDomainFindings = (domains: readonly SiteDomainFacts[]): Finding[] =>
  domains.flatMap(({ domain, slug, organizationName, problem }) =>
    problem === null
      ? []
      : finding(
          'site.domain',
          domain,
          `The DNS records of the domain ${domain} of the website ${slug} (${organizationName}) have changed: ${problem}`,
          'Its owner must correct the records or remove the domain. The website is still served, and the check is repeated every hour.',
        ),
  )

export const siteDomainCheck = ({ database }: Pick<Core, 'database'>): Check => ({
  name: 'domains of websites',
  everyMs,
  async find(signal) {
    const facts: SiteDomainFacts[] = []
    for await (const { id: organizationId, name: organizationName, deletedAt } of allOrganizations(database)) {
      if (signal.aborted) break
      if (deletedAt !== undefined) continue
      for (const { record } of await database.all(sites, { organizationId }))
        for (const { name: domain, verifiedAt, problem } of record.domains)
          if (verifiedAt !== null) facts.push({ domain, slug: record.slug, organizationName, problem })
    }
    return siteDomainFindings(facts)
  },
})
