/** Storage of a site as octets times time, computed exactly at every change of the size. Pure. */
import type { SiteUsageRecord } from '../site.ts'

/** Returns the usage with a new size from now on. */
export const storedFromNow = (usage: SiteUsageRecord, storedBytes: number, nowMs: number): SiteUsageRecord => ({
  ...{ id: usage.id, storedBytes, since: Math.max(usage.since, nowMs), byteMs: String(byteMsUntil(usage, nowMs)) },
})

/** Returns the unsettled octets times milliseconds up to now. */
export const byteMsUntil = ({ byteMs, storedBytes, since }: SiteUsageRecord, nowMs: number): bigint =>
  BigInt(byteMs) + BigInt(storedBytes) * BigInt(Math.max(0, nowMs - since))
