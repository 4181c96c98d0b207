/** Reports verified domains of websites that no longer serve them, as the latest DNS check found. Reads only the store. */
import type { Core } from '../core.ts'
import { observed, type Observed } from '../findings/finding.ts'
import { sites, type Site } from '../sites/site.ts'
import { livingOrganizations } from '../tenancy/organization-list.ts'
import type { Check, Found } from './check.ts'

const everyMs = 3_600_000

export const siteDomainFindings = ({ domains, slug, projectId }: Pick<Site, 'domains' | 'slug' | 'projectId'>): Observed[] =>
  domains.flatMap(({ name, verifiedAt, problem, problemCode: cause = 'address' }) =>
    // without an answer of the name servers, nothing is known
    verifiedAt === null || problem === null || cause === 'no_answer'
      ? []
      : observed('site.domain', name, { domain: name, slug, cause }, projectId),
  )

export const siteDomainCheck = ({ database }: Pick<Core, 'database'>): Check => ({
  name: 'domains of websites',
  everyMs,
  place: 'one',
  async look({ signal }) {
    const found: Found[] = []
    for await (const { id: organizationId } of livingOrganizations(database)) {
      if (signal.aborted) break
      for (const { record } of await database.all(sites, { organizationId }))
        found.push(...siteDomainFindings(record).map((one) => ({ ...one, organizationId })))
    }
    return { found }
  },
})
