/** DNS look-ups with a short timeout. A failed look-up is a finding and never fails the diagnosis. */
import { isSpf } from '#config/mail/spf-record.ts'
import type { Clock } from '../../clock.ts'
import { isDmarc } from '../../domains/record-findings.ts'
import { withParents } from '../../domains/check-records.ts'
import { ResolveError, type RecordResolver, type Resolver } from '../../outbound/resolver.ts'

export interface LookUpOptions {
  readonly clock: Clock
  readonly resolver: Resolver
  readonly records: RecordResolver
}

/** Timeout of each look-up, in milliseconds. Look-ups of one diagnosis run in parallel. */
const deadlineMs = 3000
const maxShown = 300

/** Whether a domain accepts mail. RFC 5321 §5.1, RFC 7505. */
export interface DomainFinding {
  readonly state: 'takes_mail' | 'null_mx' | 'no_server' | 'unknown'
  readonly detail: string
}

export async function lookAtDomain(options: LookUpOptions, domain: string): Promise<DomainFinding> {
  const found = await inTime(options.clock, mailServers(options, domain))
  return found ?? { state: 'unknown', detail: `The DNS lookup of ${domain} timed out or returned an error.` }
}

async function mailServers({ resolver, records }: LookUpOptions, domain: string): Promise<DomainFinding> {
  const exchanges = (await records.resolveMx(domain)).toSorted((a, b) => a.priority - b.priority)
  if (exchanges.length > 0 && exchanges.every(({ exchange }) => exchange === '' || exchange === '.'))
    return { state: 'null_mx', detail: `${domain} publishes a null MX: it never accepts mail (RFC 7505).` }
  const names = exchanges.slice(0, 3).map(({ exchange }) => exchange)
  if (names.length > 0) return { state: 'takes_mail', detail: `The MX records of ${domain} point to ${names.join(', ')}.` }
  const addresses = (await Promise.all([resolver.resolve4(domain), resolver.resolve6(domain)])).flat()
  if (addresses.length > 0)
    return { state: 'takes_mail', detail: `${domain} has no MX record; mail goes to its address ${addresses[0] ?? ''}.` }
  return { state: 'no_server', detail: `${domain} has neither an MX record nor an address: it does not exist, or does not accept mail.` }
}

/** A DNS record of the sender. */
export interface SenderRecord {
  readonly purpose: 'SPF' | 'DKIM' | 'DMARC' | 'MX'
  readonly domain: string
  /** The owner name of the record. */
  readonly name: string
}

/** Returns one sentence per record with its current value. */
export async function presentValues(options: LookUpOptions, wanted: readonly SenderRecord[]): Promise<string[]> {
  return Promise.all(
    wanted.map(
      async (record) =>
        (await inTime(options.clock, presentValue(options.records, record))) ?? `${titleOf(record)} could not be looked up now.`,
    ),
  )
}

async function presentValue(records: RecordResolver, record: SenderRecord): Promise<string> {
  const { purpose, domain, name } = record
  if (purpose === 'MX') {
    const found = (await records.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange || '.'}`)
    return describeRecords(titleOf(record), found)
  }
  if (purpose === 'DMARC') {
    for (const parent of withParents(domain)) {
      const found = (await records.resolveTxt(`_dmarc.${parent}`)).filter(isDmarc)
      if (found.length > 0) return describeRecords(titleOf({ ...record, name: `_dmarc.${parent}` }), found)
    }
    return describeRecords(titleOf(record), [])
  }
  const texts = await records.resolveTxt(name)
  return describeRecords(titleOf(record), purpose === 'SPF' ? texts.filter(isSpf) : texts)
}

const titleOf = ({ purpose, name }: SenderRecord): string => `The ${purpose} record (${purpose === 'MX' ? 'MX' : 'TXT'} at ${name})`

function describeRecords(title: string, found: readonly string[]): string {
  if (found.length === 0) return `${title} does not exist; publish it.`
  const value = found.join(' | ')
  return `${title} is now: ${value.length > maxShown ? `${value.slice(0, maxShown)}…` : value}`
}

/** Returns undefined after the timeout or a failed look-up. */
async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = clock.after(deadlineMs, () => late.resolve(undefined))
  const settled = work.catch((error: unknown) => {
    if (error instanceof ResolveError) return undefined
    throw error
  })
  return Promise.race([settled, late.promise]).finally(() => timer.cancel())
}
