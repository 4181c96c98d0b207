/**
 * Domains of tenants that serve their sites. Any tenant can claim a domain; it is verified when DNS has their TXT record and points here.
 * The site keeps the domain while its TXT record exists. Afterwards, another tenant with a valid TXT record can take it over.
 */
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Stored } from '#store/record-kind.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { addressesOrNone, ResolveError, type LookUp, type RecordResolver, type Resolver } from '../../outbound/resolver.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { must } from '../../writes/transact.ts'
import type { SiteAddresses } from '../site-addresses.ts'
import { sites, type DomainProblem, type Site, type SiteDomain } from '../site.ts'

/** A DNS record that the tenant must publish. */
export interface DomainRecord {
  readonly type: 'CNAME' | 'TXT'
  readonly name: string
  readonly value: string
}

export interface ClaimedDomain extends SiteDomain {
  readonly status: 'pending' | 'verified'
  readonly records: readonly DomainRecord[]
}

/** Why a domain does not serve its site. */
interface Problem {
  readonly code: DomainProblem
  readonly text: string
}

export interface SiteDomainsOptions extends Core {
  readonly resolver: Resolver & RecordResolver
  readonly lookUp: LookUp
  readonly addresses: SiteAddresses | undefined
  /** Host names of the service itself. */
  readonly ownHosts: readonly string[]
}

const maxDomains = 20
const hostShape = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/

export class SiteDomains {
  readonly #options: SiteDomainsOptions

  constructor(options: SiteDomainsOptions) {
    this.#options = options
  }

  async list(principal: Principal, siteId: string): Promise<readonly ClaimedDomain[]> {
    const { record } = await must(this.#options.database, sites, principal, siteId)
    return record.domains.map((domain) => this.#claimed(record, domain))
  }

  /** Throws `validation_failed` for names that cannot serve a site; adding the same domain again has no effect. */
  async add(principal: Principal, siteId: string, given: string): Promise<ClaimedDomain> {
    const { writes, database, clock } = this.#options
    const name = given.toLowerCase().replace(/\.$/, '')
    this.#requireName(name)
    const site = await writes.runAudited(
      principal,
      'site.domain_added',
      async (change) => {
        const stored = await must(database, sites, principal, siteId)
        if (stored.record.domains.some((domain) => domain.name === name)) return stored.record
        if (stored.record.domains.length >= maxDomains)
          throw new Refusal('conflict', `A site has at most ${maxDomains} domains; remove one.`)
        const token = `postern-site=${randomBytes(18).toString('base64url')}`
        const domain: SiteDomain = { name, token, verifiedAt: null, checkedAt: null, problem: null, createdAt: clock.now() }
        const next = { ...stored.record, domains: [...stored.record.domains, domain], updatedAt: clock.now() }
        change.replace(sites, principal.organizationId, stored, next)
        return next
      },
      { domain: name },
    )
    return this.#claimed(site, domainOf(site, name))
  }

  /** Checks DNS now. A failed check is not an error; it is reported in `problem`. Throws `conflict` if another site has the domain. */
  async verify(principal: Principal, siteId: string, name: string): Promise<ClaimedDomain> {
    const { writes, database, clock } = this.#options
    const before = (await must(database, sites, principal, siteId)).record
    const found = await this.#problemOf(before, domainOf(before, name))
    const problem =
      found === undefined ? { code: 'no_answer' as const, text: `DNS gave no answer for ${name}; verify again later.` } : found
    if (problem === null) await this.#takeOver(before, name)
    const site = await writes.runAudited(
      principal,
      'site.domain_verified',
      async (change) => {
        const stored = await must(database, sites, principal, siteId)
        const domain = domainOf(stored.record, name)
        if (problem === null && domain.verifiedAt === null && (await database.lookup(sites, 'domain', [name]))) throw taken()
        const at = clock.now()
        const next = { ...withProblem(domain, problem), checkedAt: at, verifiedAt: domain.verifiedAt ?? (problem === null ? at : null) }
        return replaceDomain(change, principal.organizationId, stored, next)
      },
      { domain: name },
    )
    return this.#claimed(site, domainOf(site, name))
  }

  async remove(principal: Principal, siteId: string, name: string): Promise<void> {
    const { writes, database, clock } = this.#options
    await writes.runAudited(
      principal,
      'site.domain_removed',
      async (change) => {
        const stored = await must(database, sites, principal, siteId)
        domainOf(stored.record, name)
        const domains = stored.record.domains.filter((domain) => domain.name !== name)
        change.replace(sites, principal.organizationId, stored, { ...stored.record, domains, updatedAt: clock.now() })
      },
      { domain: name },
    )
  }

  /** Takes the domain from another site, unless that site's TXT record still exists. */
  async #takeOver({ id }: Site, name: string): Promise<void> {
    const { database, writes } = this.#options
    const holder = await database.lookup(sites, 'domain', [name])
    if (!holder || holder.record.id === id) return
    const token = holder.record.domains.find((domain) => domain.name === name)?.token ?? ''
    if ((await this.#tokensAt(name)).includes(token)) throw taken()
    await writes.run(holder.organizationId, async (change) => {
      const stored = await database.get(sites, { organizationId: holder.organizationId }, holder.record.id)
      const domain = stored?.record.domains.find((one) => one.name === name)
      if (!stored || !domain) return
      const problem = { code: 'txt' as const, text: 'The TXT record is missing, and another site has verified the domain.' }
      replaceDomain(change, holder.organizationId, stored, { ...withProblem(domain, problem), verifiedAt: null })
    })
  }

  /**
   * Checks a verified domain again. The domain stays with its site; a failed check is reported in `problem`. Without a DNS answer, the
   * previous result remains.
   */
  async recheck(organizationId: string, before: Site, name: string): Promise<void> {
    const { writes, database, clock } = this.#options
    const found = await this.#problemOf(before, domainOf(before, name))
    await writes.run(organizationId, async (change) => {
      const stored = await database.get(sites, { organizationId }, before.id)
      const domain = stored?.record.domains.find((one) => one.name === name)
      if (!stored || !domain?.verifiedAt || stored.record.slug !== before.slug) return
      const next = found === undefined ? domain : withProblem(domain, found)
      replaceDomain(change, organizationId, stored, { ...next, checkedAt: clock.now() })
    })
  }

  /** Returns the reason why the domain does not serve the site. Returns null without problem, and undefined without a DNS answer. */
  async #problemOf(site: Site, { name, token }: SiteDomain): Promise<Problem | null | undefined> {
    const { addresses } = this.#options
    if (!addresses) return { code: 'off', text: 'This service serves no websites.' }
    const host = addresses.hostOf(site.slug)
    try {
      if (!(await this.#tokensAt(name)).includes(token))
        return { code: 'txt', text: `The TXT record ${recordName(name)} does not contain ${token}; publish it.` }
      if ((await this.#aliasesOf(name)).includes(host)) return null
      const [own, ours] = await Promise.all([addressesOrNone(this.#options.resolver, name), addressesOrNone(this.#options.resolver, host)])
      if (own.some((address) => ours.includes(address))) return null
      const advice = `publish a CNAME record with the value ${host}, or its A and AAAA records if the name cannot have a CNAME`
      return { code: 'address', text: `${name} does not point to this site; ${advice}.` }
    } catch (error) {
      if (error instanceof ResolveError) return undefined
      throw error
    }
  }

  #tokensAt = (name: string): Promise<readonly string[]> => this.#options.resolver.resolveTxt(recordName(name))

  async #aliasesOf(name: string): Promise<readonly string[]> {
    const answers = await this.#options.lookUp(name, 'CNAME').catch(() => [])
    return answers.map((answer) => String(answer).toLowerCase().replace(/\.$/, ''))
  }

  #requireName(name: string): void {
    const { addresses, ownHosts } = this.#options
    const refuse = (message: string): never => {
      throw invalid([{ path: 'domain', message }])
    }
    if (!hostShape.test(name) || isIP(name) !== 0)
      refuse('must be a host name such as www.example.ch; write internationalized names in ASCII (xn--…)')
    const domain = addresses?.domain
    const isOurs = domain !== undefined && (name === domain || name.endsWith(`.${domain}`) || ownHosts.includes(name))
    if (isOurs) refuse('belongs to the service itself; choose another name')
  }

  #claimed(site: Site, domain: SiteDomain): ClaimedDomain {
    const { addresses } = this.#options
    return {
      ...domain,
      status: domain.verifiedAt === null ? 'pending' : 'verified',
      records: [
        { type: 'CNAME', name: domain.name, value: addresses?.hostOf(site.slug) ?? '' },
        { type: 'TXT', name: recordName(domain.name), value: domain.token },
      ],
    }
  }
}

const withProblem = ({ problemCode: _, ...domain }: SiteDomain, problem: Problem | null): SiteDomain => ({
  ...{ ...domain, problem: problem?.text ?? null },
  ...(problem && { problemCode: problem.code }),
})

const recordName = (domain: string): string => `_postern-site.${domain}`

function domainOf({ domains }: Site, name: string): SiteDomain {
  const domain = domains.find((one) => one.name === name)
  if (!domain) throw new Refusal('not_found', 'The site has no domain of this name.')
  return domain
}

function replaceDomain(
  change: { replace: (kind: typeof sites, organizationId: string, stored: Stored<Site>, next: Site) => unknown },
  organizationId: string,
  stored: Stored<Site>,
  next: SiteDomain,
): Site {
  const domains = stored.record.domains.map((domain) => (domain.name === next.name ? next : domain))
  if (isDeepStrictEqual(domains, stored.record.domains)) return stored.record
  const site = { ...stored.record, domains }
  change.replace(sites, organizationId, stored, site)
  return site
}

const taken = (): Refusal =>
  new Refusal('conflict', 'Another site has verified this domain; remove its TXT record first.', { nextAction: 'remove_other_record' })
