/** Domains of websites that no longer lead to them, as the latest look at DNS found. Looks into the store alone. */
import type { Core } from '../core.ts'
import { sites } from '../sites/site.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import type { Check } from './check.ts'
import { finding, type Finding } from './finding.ts'

const everyMs = 3_600_000

/** A verified domain with what is wrong with it. */
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
          `The domain ${domain} of the website ${slug} (${organizationName}) is not as it was when it was verified: ${problem}`,
          'Its owner corrects the records, or removes the domain from the website. It is served as before, and looked at again every hour.',
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
