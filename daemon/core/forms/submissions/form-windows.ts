/** Rate limits of a form: per visitor network in a minute and an hour, for all visitors in an hour, and per organization in a day. */
import type { Database } from '#store/database.ts'
import { clientNetwork } from '../../access/client-network.ts'
import { limitsOf } from '../../plan/limits.ts'
import { Refusal } from '../../refusals.ts'
import { dayOf, formDayCounter } from '../../tenancy/counters.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { openWindows, type Window, type WindowLimit, type WindowShape } from '../../visitors/stored-windows.ts'
import type { Transaction } from '../../writes/transact.ts'
import { keyName, pack } from '#store/tuple.ts'

/**
 * Each window has few slices, which keeps few counters per visitor. A window can therefore last up to 25% longer than its nominal length.
 */
const minute: WindowShape = { sliceMs: 15_000, slices: 4 }
const hour: WindowShape = { sliceMs: 900_000, slices: 4 }
const dayMs = 86_400_000

/** The sender of a submission. */
export interface Sender {
  readonly organization: Organization
  readonly formId: string
  readonly remoteAddress: string
}

/** Opens the windows. Throws `rate_limit_exceeded` for a full window, and `quota_exhausted` for a full day. */
export async function openFormWindows(
  database: Pick<Database, 'kv'>,
  { organization, formId, remoteAddress }: Sender,
  nowMs: number,
): Promise<readonly Window[]> {
  const { formSubmissionsPerDay: limit } = limitsOf(organization)
  if (limit !== undefined && (await database.kv.counter(pack(formDayCounter(organization.id, dayOf(nowMs))))) >= limit)
    throw dayIsFull(nowMs)
  const windowOf = (at: number, of: string, shape: WindowShape, limit: number, text: string): WindowLimit => ({
    ...{ shape, limit },
    key: [organization.id, 'counter', 'form_use', formId, at, of],
    refusal: (retryAfterSeconds) =>
      new Refusal('rate_limit_exceeded', `This form can be sent ${text}; wait and send it again.`, { retryAfterSeconds }),
  })
  const visitor = clientNetwork(remoteAddress)
  const visitorHour = windowOf(1, visitor, hour, 60, '60 times in an hour')
  const visitorMinute = { ...windowOf(0, visitor, minute, 10, '10 times in a minute'), longer: visitorHour }
  const limits = [visitorMinute, visitorHour, windowOf(2, '', hour, 1000, '1000 times in an hour by all visitors')]
  return openWindows(database, limits, nowMs)
}

/** Counts a submission in the write that accepts it. */
export function countInWindows(change: Transaction, windows: readonly Window[], organization: Organization, nowMs: number): void {
  for (const { key, most, refusal, expiresAt } of windows) {
    change.add(key, 1, most).expire(expiresAt, key)
    change.limits.set(keyName(pack(key)), refusal)
  }
  const day = formDayCounter(organization.id, dayOf(nowMs))
  const { formSubmissionsPerDay: limit } = limitsOf(organization)
  change.add(day, 1, limit).expire(nowMs + 3 * dayMs, day)
  change.limits.set(keyName(pack(day)), () => dayIsFull(nowMs))
}

const dayIsFull = (nowMs: number): Refusal =>
  new Refusal('quota_exhausted', 'The limit of form submissions for today is reached. Send the form again tomorrow.', {
    nextAction: 'retry_later',
    retryAfterSeconds: Math.ceil((dayMs - (nowMs % dayMs)) / 1000),
  })
