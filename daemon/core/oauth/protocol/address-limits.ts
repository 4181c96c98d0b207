/**
 * Rate limits for unauthenticated creation of sandboxes and clients. Counted per client network and in total, in the write that creates the
 * resource.
 */
import type { Change } from '#store/change.ts'
import type { WriteResult } from '#store/kv.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { clientNetwork } from '../../access/client-network.ts'
import { OAuthError } from './oauth-error.ts'

/** Maximum count in a window. Windows start at multiples of their length (UTC). */
export interface AddressLimit {
  readonly max: number
  readonly windowMs: number
  /** Counts all addresses together instead of each network separately. */
  readonly isShared?: boolean
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Limits of new sandboxes for each network, and for the whole service. */
export const sandboxLimits: readonly AddressLimit[] = [
  { max: 5, windowMs: hourMs },
  { max: 20, windowMs: dayMs },
  { max: 1000, windowMs: dayMs, isShared: true },
]

export const registrationLimits: readonly AddressLimit[] = [
  { max: 10, windowMs: hourMs },
  { max: 1000, windowMs: dayMs, isShared: true },
]

/** Increments the counter of every window. The write fails with reason `limit` if a window is full. */
export function countAddress(change: Change, purpose: string, limits: readonly AddressLimit[], address: string, now: number): void {
  for (const limit of limits) {
    const key = counterKey(purpose, limit, address, now)
    change.add(key, 1, limit.max).expire(windowEnd(limit, now), key)
  }
}

/**
 * Checks the result of a write with `countAddress`. Throws `temporarily_unavailable`, with the end of the longest full window as the retry
 * time.
 */
export function assertWithin(result: WriteResult, purpose: string, limits: readonly AddressLimit[], address: string, now: number): void {
  if (result.ok) return
  const full = limits.filter((limit) => Buffer.compare(pack(counterKey(purpose, limit, address, now)), result.key) === 0)
  if (full.length === 0) throw new Error(`a write of ${purpose} failed: ${result.reason}`)
  const retryAfterSeconds = Math.max(...full.map((limit) => Math.ceil((windowEnd(limit, now) - now) / 1000)))
  throw new OAuthError('temporarily_unavailable', 'Too many of these requests; try again later.', { retryAfterSeconds })
}

const counterKey = (purpose: string, { windowMs, isShared }: AddressLimit, address: string, now: number): readonly Element[] =>
  globalKey('oauth.limit', purpose, windowMs, isShared ? '' : clientNetwork(address), Math.floor(now / windowMs))

const windowEnd = ({ windowMs }: AddressLimit, now: number): number => (Math.floor(now / windowMs) + 1) * windowMs
