/**
 * Changes of a sending domain that an automatic check found. The first verification is a row in the write that stores the result, until
 * administrators are notified. Findings report lost records and their return.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Bytes } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import type { RecordCheck, SendingDomain } from './sending-domain.ts'

/** Announces a new domain; see `Database.onWork`. */
export const newDomainWork = 'domain.new'
/** One row for each verified domain whose administrators are not yet notified. */
export const domainChangePrefix = globalKey('domain.change')
/** Announces a new row. */
export const domainChangeWork = 'domain.change'

export interface DomainChange {
  readonly domain: string
  /** Always true in new rows. Rows of earlier versions can be about lost records. */
  readonly isVerified?: boolean | undefined
}

/** Records the first verification of a domain for its administrators. */
export const noteVerified = (change: Change, organizationId: string, { id, domain }: Pick<SendingDomain, 'id' | 'domain'>): Change =>
  change
    .set([...domainChangePrefix, organizationId, id], encode({ domain, isVerified: true } satisfies DomainChange))
    .schedule(domainChangeWork, `${organizationId}/${id}`)

export const domainChangeOf = (value: Bytes): DomainChange => decode<DomainChange>(value)

const isThere = (check: RecordCheck | undefined): boolean => check?.verdict === 'ok'
const isGone = (check: RecordCheck | undefined): boolean => check?.verdict === 'missing' || check?.verdict === 'mismatch'

/** Returns the names of records that the previous check found published and this check does not. */
export const lostRecords = ({ check }: SendingDomain, records: readonly RecordCheck[]): readonly string[] =>
  changed(check?.records ?? [], records, (before, now) => isThere(before) && isGone(now))

/** Returns the change for the audit log. Returns undefined without changes, and while a new domain is being set up. */
export function changeOf(before: SendingDomain, after: SendingDomain): { readonly lost: readonly string[] } | undefined {
  const [was, is] = [before.status === 'verified', after.status === 'verified']
  const records = after.check?.records ?? []
  const lost = before.status === 'pending' ? [] : lostRecords(before, records)
  const found = before.status === 'pending' ? [] : changed(before.check?.records ?? [], records, (one, now) => isGone(one) && isThere(now))
  return was === is && lost.length + found.length === 0 ? undefined : { lost }
}

function changed(
  before: readonly RecordCheck[],
  now: readonly RecordCheck[],
  isMeant: (before: RecordCheck | undefined, now: RecordCheck) => boolean,
): readonly string[] {
  const earlier = (one: RecordCheck) => before.find(({ purpose, name }) => purpose === one.purpose && name === one.name)
  return now.filter((one) => isMeant(earlier(one), one)).map(({ name }) => name)
}
