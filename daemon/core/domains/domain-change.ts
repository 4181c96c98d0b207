/**
 * Changes of a sending domain that an automatic check found. Each is a row in the write that stores the result, until administrators are
 * notified.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Bytes } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import type { RecordCheck, RecordPurpose, SendingDomain } from './sending-domain.ts'

/** Announces a new domain; see `Database.onWork`. */
export const newDomainWork = 'domain.new'
/** One row for each domain whose administrators are not yet notified. */
export const domainChangePrefix = globalKey('domain.change')
/** Announces a new row. */
export const domainChangeWork = 'domain.change'

/** A record that was removed from DNS or published again. */
export interface ChangedRecord {
  readonly purpose: RecordPurpose
  readonly name: string
}

export interface DomainChange {
  readonly domain: string
  /** The new state; absent if it has not changed. */
  readonly isVerified?: boolean | undefined
  readonly lost: readonly ChangedRecord[]
  readonly found: readonly ChangedRecord[]
}

export const noteDomainChange = (change: Change, organizationId: string, domainId: string, found: DomainChange): Change =>
  change.set([...domainChangePrefix, organizationId, domainId], encode(found)).schedule(domainChangeWork, `${organizationId}/${domainId}`)

export const domainChangeOf = (value: Bytes): DomainChange => decode<DomainChange>(value)

const isThere = (check: RecordCheck | undefined): boolean => check?.verdict === 'ok'
const isGone = (check: RecordCheck | undefined): boolean => check?.verdict === 'missing' || check?.verdict === 'mismatch'

/** Returns records that the previous check found published and this check does not. */
export const lostRecords = ({ check }: SendingDomain, records: readonly RecordCheck[]): readonly ChangedRecord[] =>
  changed(check?.records ?? [], records, (before, now) => isThere(before) && isGone(now))

/** Returns the change to report. Returns undefined without changes, and while a new domain is being set up. */
export function changeOf(before: SendingDomain, after: SendingDomain): DomainChange | undefined {
  const [was, is] = [before.status === 'verified', after.status === 'verified']
  const records = after.check?.records ?? []
  const lost = before.status === 'pending' ? [] : lostRecords(before, records)
  const found = before.status === 'pending' ? [] : changed(before.check?.records ?? [], records, (one, now) => isGone(one) && isThere(now))
  if (was === is && lost.length + found.length === 0) return undefined
  return { domain: after.domain, ...(was !== is && { isVerified: is }), lost, found }
}

function changed(
  before: readonly RecordCheck[],
  now: readonly RecordCheck[],
  isMeant: (before: RecordCheck | undefined, now: RecordCheck) => boolean,
): readonly ChangedRecord[] {
  const earlier = (one: RecordCheck) => before.find(({ purpose, name }) => purpose === one.purpose && name === one.name)
  return now.filter((one) => isMeant(earlier(one), one)).map(({ purpose, name }) => ({ purpose, name }))
}
