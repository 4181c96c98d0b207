/** Looks up the records of all sending domains. Does not change the domains; `verify` does. */
import type { Core } from '../core.ts'
import { checkRecords } from '../domains/check-records.ts'
import { expectedRecords, type PublishingFacts } from '../domains/expected-records.ts'
import { sendingDomains, type SendingDomain } from '../domains/sending-domain.ts'
import type { LookedUp } from '../domains/sending-domains.ts'
import { nameOf, severityOf, type Finding } from '../findings/finding.ts'
import type { Settle } from '../findings/settle.ts'
import type { RecordResolver } from '../outbound/resolver.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { livingOrganizations } from '../tenancy/organization-list.ts'
import { eachOf, type Check, type Examined, type Found } from './check.ts'
import { domainFindings, isAboutService } from './domain-findings.ts'

export interface DomainCheckOptions extends Pick<Core, 'database'> {
  readonly resolver: RecordResolver
  readonly publishing: PublishingFacts
}

const hour = 3_600_000
/** Time until the second look-up of a record that one look-up did not find, as in the automatic check of the domain. */
const againMs = 300_000
/** Number of domains that are looked up concurrently. */
const atATime = 4

interface Owned {
  readonly organizationId: string
  readonly domain: SendingDomain
}

const name = 'domains'

/** Ends the findings of a domain that a person repaired, without waiting for the next check. */
export const repairedDomain =
  (settle: Pick<Settle, 'settle'>) =>
  async (organizationId: string, looked: LookedUp): Promise<void> => {
    const seen = domainFindings(looked)
    const names = new Set(seen.map(nameOf))
    const isUndecided = seen.some(({ kind }) => kind === 'domain.lookup_failed' || kind === 'domain.pending')
    const coversFinding = (finding: Finding): boolean =>
      finding.params['domain'] === looked.domain.domain && !isUndecided && !names.has(nameOf(finding))
    await settle.settle({ organizationId, check: name, observed: [], coversFinding })
  }

export function domainCheck({ database, resolver, publishing }: DomainCheckOptions): Check {
  async function* all(): AsyncGenerator<Owned> {
    for await (const { id: organizationId } of livingOrganizations(database))
      for (const { record } of await database.all(sendingDomains, { organizationId })) yield { organizationId, domain: record }
  }

  const suspects = new Suspects()
  return {
    name,
    get everyMs() {
      return suspects.isEmpty ? hour : againMs
    },
    place: 'one',
    async look({ signal, isAsked }) {
      const found = new Map<string, Found>()
      const unanswered = new Unanswered()
      await eachOf(all(), atATime, signal, async ({ organizationId, domain }) => {
        const expected = expectedRecords(domain, publishing)
        const seen = domainFindings({ domain, expected, checks: await checkRecords(resolver, expected, publishing) })
        unanswered.note(
          organizationId,
          domain.domain,
          seen.some(({ kind }) => kind === 'domain.lookup_failed'),
        )
        for (const one of seen) {
          const owner = isAboutService(one) ? systemOrganizationId : organizationId
          found.set(`${owner} ${nameOf(one)}`, { ...one, organizationId: owner }) // all domains share the bounce domain
        }
      })
      const confirmed = suspects.confirmed([...found], isAsked)
      const coversFinding: Examined['coversFinding'] = (organizationId, finding) =>
        !suspects.has(`${organizationId} ${nameOf(finding)}`) && unanswered.covers(organizationId, finding)
      return { found: confirmed, coversFinding }
    },
  }
}

/** Problems that the latest look found and the look before did not. A record can be missing temporarily, so these are not reported yet. */
class Suspects {
  /** Keys of the problems of the latest look. */
  #seen: ReadonlySet<string> = new Set()
  #suspects: ReadonlySet<string> = new Set()

  get isEmpty(): boolean {
    return this.#suspects.size === 0
  }

  has(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** Returns the problems to report: notices, those found twice, and all if a person started the look. */
  confirmed(found: readonly (readonly [key: string, found: Found])[], isAsked: boolean): Found[] {
    const isNew = (key: string, one: Found): boolean => !isAsked && severityOf(one) !== 'notice' && !this.#seen.has(key)
    this.#suspects = new Set(found.filter(([key, one]) => isNew(key, one)).map(([key]) => key))
    this.#seen = new Set(found.map(([key]) => key))
    return found.filter(([key]) => !this.has(key)).map(([, one]) => one)
  }
}

/** Domains without an answer of their name servers. Their earlier findings stay. */
class Unanswered {
  readonly #names = new Set<string>()
  #answered = 0

  note(organizationId: string, name: string, isUnanswered: boolean): void {
    if (isUnanswered) this.#names.add(`${organizationId} ${name}`)
    else this.#answered++
  }

  covers(organizationId: string, finding: Finding): boolean {
    if (organizationId === systemOrganizationId) return this.#answered > 0 || this.#names.size === 0
    if (finding.kind === 'domain.lookup_failed') return true
    return !this.#names.has(`${organizationId} ${String(finding.params['domain'])}`)
  }
}
