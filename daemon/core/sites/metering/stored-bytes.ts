/** How much a site stores, and for how long: octets times time, counted exactly whenever the octets change. Pure. */
import type { SiteUsageRecord } from '../site.ts'

/** With so many octets from now on. */
export const storedFromNow = (usage: SiteUsageRecord, storedBytes: number, nowMs: number): SiteUsageRecord => ({
  ...{ id: usage.id, storedBytes, since: Math.max(usage.since, nowMs), byteMs: String(byteMsUntil(usage, nowMs)) },
})

/** Octets times milliseconds that are not settled, up to now. */
export const byteMsUntil = ({ byteMs, storedBytes, since }: SiteUsageRecord, nowMs: number): bigint =>
  BigInt(byteMs) + BigInt(storedBytes) * BigInt(Math.max(0, nowMs - since))
