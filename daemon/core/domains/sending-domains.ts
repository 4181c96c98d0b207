/** Registers sending domains, shows the records to publish, verifies them in DNS, rotates keys and deletes domains. */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { mapRows, type List, type PageQuery } from '../access/principal/lists.ts'
import { reachableDestination } from '../access/principal/project-choice.ts'
import { requireAdministration } from '../access/principal/organization-acts.ts'
import { administersAll, type Principal } from '../access/principal/principal.ts'
import { parseDomain } from '../addresses.ts'
import type { RecordResolver } from '../outbound/resolver.ts'
import { invalid, Refusal } from '../refusals.ts'
import { checkRecords } from './check-records.ts'
import { changeOf, lostRecords, newDomainWork, noteVerified } from './domain-change.ts'
import { dkimRecordName, keysAfterCheck, newDkimKey, withoutExpired } from './dkim-keys.ts'
import { expectedRecords, type ExpectedRecord, type PublishingFacts } from './expected-records.ts'
import { spfFinding } from './record-findings.ts'
import { spfMechanismOf } from './provider-spf.ts'
import {
  sendingDomains,
  type DkimKey,
  type DomainStatus,
  type KeyAlgorithm,
  type RecordCheck,
  type RecordVerdict,
  type SendingDomain,
} from './sending-domain.ts'
import { must } from '../writes/transact.ts'

export interface SendingDomainOptions extends Core {
  readonly resolver: RecordResolver
  /** Equal for all domains of the service. */
  readonly publishing: PublishingFacts
  /** Called after a domain was added. */
  readonly onAdded?: (organizationId: string) => void
  /** Called after the result of a look-up was stored. */
  readonly onChecked?: (organizationId: string, looked: LookedUp) => Promise<void>
}

/** A domain with the records to publish, and the result of the look-up. */
export interface LookedUp {
  readonly domain: SendingDomain
  readonly expected: readonly ExpectedRecord[]
  readonly checks: readonly RecordCheck[]
}

/** A record to publish, with the result of the last look-up. */
export interface DomainRecord extends ExpectedRecord {
  readonly check: RecordCheck | undefined
}

/** A domain with its records. */
export interface ShownDomain {
  readonly domain: SendingDomain
  readonly records: readonly DomainRecord[]
}

/** A key record has the longest prefix of all records. */
const maxDomainLength = 253 - 'pst202601ffffffff-ed._domainkey.'.length

export class SendingDomains implements List<unknown, ShownDomain> {
  readonly #options: SendingDomainOptions

  constructor(options: SendingDomainOptions) {
    this.#options = options
  }

  /** Creates a domain with its keys. Throws `conflict` if the organization already has the domain. */
  async create(principal: Principal, request: { readonly domain: string; readonly ed25519: boolean }): Promise<ShownDomain> {
    requireAdministration(principal, 'domains.change')
    const { database, writes, clock } = this.#options
    const name = readDomain(request.domain)
    await this.#refuseSecond(principal, name)
    const now = clock.now()
    const id = database.newId('dom', now)
    const keys = await this.#newKeys(id, request.ed25519 ? ['rsa', 'ed25519'] : ['rsa'])
    const record: SendingDomain = { id, domain: name, status: 'pending', keys, check: null, createdAt: now, updatedAt: now }
    await writes.runAudited(principal, 'sending_domain.created', async (change) => {
      const other = await database.find(sendingDomains, principal, 'domain', [name])
      if (other) throw alreadyThere(other.record)
      change.insert(sendingDomains, principal.organizationId, record).schedule(newDomainWork, id)
    })
    this.#options.onAdded?.(principal.organizationId)
    return this.#shown(record)
  }

  /** Newest first. */
  async list(principal: Principal, { limit, cursor }: PageQuery): Promise<Page<ShownDomain>> {
    const page = await this.#options.database.list(sendingDomains, principal, { limit, cursor })
    return mapRows(page, ({ record }) => this.#shown(record))
  }

  /** Throws `not_found` for missing ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<ShownDomain> {
    return this.#shown((await this.#get(principal, id)).record)
  }

  /** Returns undefined if the organization has no such domain. Throws `validation_failed` for an invalid domain. */
  async byName(principal: Principal, name: string): Promise<ShownDomain | undefined> {
    const found = await this.#options.database.find(sendingDomains, principal, 'domain', [readDomain(name)])
    return found && this.#shown(found.record)
  }

  /** Returns the records for mail through one destination, with the provider's SPF mechanism for known providers. */
  async recordsFor(principal: Principal, id: string, destinationId: string | undefined): Promise<readonly DomainRecord[]> {
    const { record } = await this.#get(principal, id)
    if (destinationId === undefined) return this.#shown(record).records
    const { destinations } = await this.#options.policies.of(principal.organizationId)
    const destination = reachableDestination(principal, destinations, destinationId)
    if (!destination) throw new Refusal('not_found', 'destination_id: no destination has this id.')
    const mechanism = spfMechanismOf(destination)
    return this.#shown(record, mechanism === undefined ? [] : [mechanism]).records
  }

  /**
   * Looks up all records and stores the result, which determines the active DKIM keys. A failed look-up changes no keys. Callers who cannot
   * change domains get the stored result without a look-up.
   */
  async verify(principal: Principal, id: string): Promise<ShownDomain> {
    if (!administersAll(principal)) return this.get(principal, id)
    const { writes, clock, resolver, publishing, onChecked } = this.#options
    const before = (await this.#get(principal, id)).record
    const expected = expectedRecords(before, publishing)
    // outside the write, because a look-up can be slow
    const checks = await checkRecords(resolver, expected, publishing)
    const domain = await writes.runAudited(principal, 'sending_domain.verified', async (change) => {
      const stored = await this.#get(principal, id)
      const record = checked(stored.record, before, checks, clock.now())
      change.replace(sendingDomains, principal.organizationId, stored, record)
      return record
    })
    await onChecked?.(principal.organizationId, { domain, expected, checks })
    return this.#shown(domain)
  }

  /**
   * Checks all records automatically, and records changes in the audit log. `kept`: the result is stored; `silent`: no name server
   * answered; `lost`: a published record is missing. A loss is stored only if a second check (`isSecond`) finds it, too.
   */
  async recheck(organizationId: string, before: SendingDomain, isSecond: boolean): Promise<'kept' | 'silent' | 'lost'> {
    const { writes, audit, clock, database, resolver, publishing, onChecked } = this.#options
    const expected = expectedRecords(before, publishing)
    const seen = await checkRecords(resolver, expected, publishing)
    if (seen.every(({ verdict }) => verdict === 'error')) return 'silent'
    if (before.status === 'verified' && !isSecond && lostRecords(before, seen).length > 0) return 'lost'
    const domain = await writes.run(organizationId, async (change) => {
      const stored = await database.get(sendingDomains, { organizationId }, before.id)
      if (!stored || stored.record.updatedAt !== before.updatedAt) return undefined // verified, rotated or deleted concurrently
      const record = checked(stored.record, before, withoutErrors(before, seen), clock.now())
      change.replace(sendingDomains, organizationId, stored, record)
      if (wasNeverVerified(stored.record) && record.status === 'verified') noteVerified(change, organizationId, record)
      const found = changeOf(stored.record, record)
      if (!found) return record
      const details = { name: record.domain, status: record.status, lost: found.lost }
      audit.record(change, {
        organizationId,
        actor: { kind: 'service', id: '' },
        act: 'sending_domain.verified',
        target: record.id,
        details,
      })
      return record
    })
    if (domain) await onChecked?.(organizationId, { domain, expected, checks: seen })
    return 'kept'
  }

  /** Adds new keys; the present keys sign until `verify` finds the new keys. Throws `conflict` during a rotation. */
  async rotate(principal: Principal, id: string): Promise<ShownDomain> {
    requireAdministration(principal, 'domains.change')
    const { writes, clock } = this.#options
    const before = (await this.#get(principal, id)).record
    refuseSecondRotation(before)
    const made = await this.#newKeys(id, [...new Set(before.keys.map(({ algorithm }) => algorithm))])
    return writes.runAudited(principal, 'sending_domain.keys_rotated', async (change) => {
      const stored = await this.#get(principal, id)
      refuseSecondRotation(stored.record)
      const now = clock.now()
      const kept = withoutExpired(stored.record.keys, now).filter(({ state }) => state !== 'pending')
      const record = { ...stored.record, keys: [...made, ...kept], updatedAt: now }
      change.replace(sendingDomains, principal.organizationId, stored, record)
      return this.#shown(record)
    })
  }

  /** Deletes the domain; later mail is not signed. Existing signatures remain valid while the key is in DNS. */
  async remove(principal: Principal, id: string): Promise<void> {
    requireAdministration(principal, 'domains.change')
    await this.#options.writes.runAudited(principal, 'sending_domain.deleted', async (change) =>
      change.remove(sendingDomains, principal.organizationId, await this.#get(principal, id)),
    )
  }

  #shown(domain: SendingDomain, mechanisms: readonly string[] = []): ShownDomain {
    const { publishing } = this.#options
    const facts = { ...publishing, spfMechanisms: [...new Set([...publishing.spfMechanisms, ...mechanisms])] }
    const checks = domain.check?.records ?? []
    const records = expectedRecords(domain, facts).map((record) => {
      const check = checks.find(({ purpose, name }) => purpose === record.purpose && name === record.name)
      // the SPF record is checked again if the destination adds mechanisms
      const isOther = record.purpose === 'spf' && mechanisms.length > 0 && check !== undefined && check.verdict !== 'error'
      return {
        ...record,
        check: isOther ? { ...check, ...spfFinding(check.found, facts.spfMechanisms, record.expected, check.spf) } : check,
      }
    })
    return { domain, records }
  }

  #newKeys(id: string, algorithms: readonly KeyAlgorithm[]): Promise<DkimKey[]> {
    const { secrets, clock } = this.#options
    return Promise.all(algorithms.map((algorithm) => newDkimKey(secrets, id, algorithm, clock.now())))
  }

  async #refuseSecond(principal: Principal, name: string): Promise<void> {
    const other = await this.#options.database.find(sendingDomains, principal, 'domain', [name])
    if (other) throw alreadyThere(other.record)
  }

  #get(principal: Principal, id: string): Promise<Stored<SendingDomain>> {
    return must(this.#options.database, sendingDomains, principal, id)
  }
}

function readDomain(text: string): string {
  const domain = parseDomain(text.trim().replace(/^@/, '').replace(/\.$/, ''))
  if (domain?.includes('.') && domain.length <= maxDomainLength) return domain
  throw invalid([{ path: 'domain', message: 'must be a domain such as example.ch, without a user and without http://' }])
}

const alreadyThere = ({ id, domain }: SendingDomain): Refusal =>
  new Refusal('conflict', `${domain} is already a sending domain: ${id}.`, { nextAction: 'use_existing', details: { id } })

function refuseSecondRotation({ keys }: SendingDomain): void {
  const next = keys.find(({ state }) => state === 'pending')
  if (!next || !keys.some(({ state }) => state === 'active')) return
  const message = `The key with the selector ${next.selector} is not published yet; publish its record and verify the domain first.`
  throw new Refusal('conflict', message, { nextAction: 'publish_records_and_verify' })
}

/** Returns the domain with the result of a look-up. `before` is the domain at the start of the look-up, with the keys that it checked. */
function checked(stored: SendingDomain, before: SendingDomain, records: readonly RecordCheck[], now: number): SendingDomain {
  const keys = keysAfterCheck(stored.keys, verdictsBySelector(before, records), now)
  const status = statusOf(keys, stored, records)
  // records of earlier versions have no time
  const verifiedAt = stored.verifiedAt ?? (stored.status === 'verified' || status === 'verified' ? now : undefined)
  return { ...stored, keys, status, check: { at: now, records: [...records] }, updatedAt: now, verifiedAt }
}

const wasNeverVerified = ({ status, verifiedAt }: SendingDomain): boolean => status !== 'verified' && verifiedAt === undefined

/** Replaces failed look-ups by the previous results. */
const withoutErrors = ({ check }: SendingDomain, records: readonly RecordCheck[]): readonly RecordCheck[] =>
  records.map((one) => {
    if (one.verdict !== 'error') return one
    return check?.records.find(({ purpose, name }) => purpose === one.purpose && name === one.name) ?? one
  })

function verdictsBySelector({ domain, keys }: SendingDomain, records: readonly RecordCheck[]): Map<string, RecordVerdict> {
  const byName = new Map(records.map(({ name, verdict }) => [name, verdict]))
  return new Map(
    keys.flatMap((key) => {
      const verdict = byName.get(dkimRecordName(key, domain))
      return verdict === undefined ? [] : [[key.selector, verdict] as const]
    }),
  )
}

/** Only an active RSA key determines the status; other records are recommendations. */
function statusOf(keys: readonly DkimKey[], before: SendingDomain, records: readonly RecordCheck[]): DomainStatus {
  if (keys.some(({ algorithm, state }) => algorithm === 'rsa' && state === 'active')) return 'verified'
  const wrong = records.some(({ purpose, verdict }) => purpose === 'dkim' && verdict === 'mismatch')
  return wrong || before.status !== 'pending' ? 'failed' : 'pending'
}
