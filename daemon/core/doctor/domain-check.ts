/** Looks up the records of all sending domains. Does not change stored data; `verify` does. */
import type { Core } from '../core.ts'
import { checkRecords } from '../domains/check-records.ts'
import { expectedRecords, type PublishingFacts } from '../domains/expected-records.ts'
import { sendingDomains, type SendingDomain } from '../domains/sending-domain.ts'
import type { RecordResolver } from '../outbound/resolver.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { eachOf, type Check } from './check.ts'
import { domainFindings } from './domain-findings.ts'
import { nameOf, type Finding } from './finding.ts'

export interface DomainCheckOptions extends Pick<Core, 'database'> {
  readonly resolver: RecordResolver
  readonly publishing: PublishingFacts
}

const hour = 3_600_000
/** Number of domains that are looked up concurrently. */
const atATime = 4

interface Owned {
  readonly domain: SendingDomain
  readonly organizationName: string
}

export function domainCheck({ database, resolver, publishing }: DomainCheckOptions): Check {
  /** Latest findings by domain id; used while the name servers of a domain do not answer. */
  let known = new Map<string, readonly Finding[]>()

  async function* all(): AsyncGenerator<Owned> {
    for await (const { id: organizationId, name, deletedAt } of allOrganizations(database)) {
      if (deletedAt !== undefined) continue
      for (const { record } of await database.all(sendingDomains, { organizationId })) yield { domain: record, organizationName: name }
    }
  }

  async function look({ domain, organizationName }: Owned): Promise<readonly Finding[]> {
    const expected = expectedRecords(domain, publishing)
    const checks = await checkRecords(resolver, expected, publishing)
    const found = domainFindings({ domain, organizationName, expected, checks })
    if (found.every(({ id }) => id !== 'domain.lookup_failed')) return found
    const before = (known.get(domain.id) ?? []).filter(({ id }) => id !== 'domain.lookup_failed')
    return [...before, ...found]
  }

  return {
    name: 'domains',
    everyMs: hour,
    async find(signal) {
      const seen = new Map<string, readonly Finding[]>()
      await eachOf(all(), atATime, signal, async (owned) => void seen.set(owned.domain.id, await look(owned)))
      if (signal.aborted) return [...known.values()].flat()
      known = seen
      // all domains share the bounce domain
      return [...new Map([...seen.values()].flat().map((one) => [nameOf(one), one])).values()]
    },
  }
}
