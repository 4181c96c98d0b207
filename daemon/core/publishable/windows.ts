/**
 * How often a key was used lately: sliding windows over counters in the store, which grow in the very write that takes a
 * message. A window is cut into slices, and one that has begun to leave still counts as a whole, so that no stretch of its
 * length ever sees more sends than the key allows.
 */
import { hash } from 'node:crypto'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { clientNetwork } from '../access/client-network.ts'
import { foldAddress } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import { ratesOf, type PublishableKey, type Rates } from './publishable-key.ts'

/** A counter that the write of a send adds to, and what it may come to. */
export interface Window {
  readonly key: readonly Element[]
  readonly most: number
  /** What the send is refused with when the counter would pass it. */
  readonly refusal: Refusal
  /** From when on nobody asks for the counter. */
  readonly expiresAt: number
}

const hourMs = 3_600_000

interface Axis {
  readonly rate: keyof Rates
  readonly sliceMs: number
  readonly slices: number
  /** Completes "takes N sends …". */
  readonly words: string
}

const inHour = { sliceMs: hourMs / 12, slices: 12 }
const perIp: Axis = { ...inHour, rate: 'perIpHour', words: 'an hour from one network address' }
const perRecipient: Axis = { ...inHour, rate: 'perRecipientHour', words: 'an hour to one recipient' }
const perKeyHour: Axis = { ...inHour, rate: 'perKeyHour', words: 'an hour' }
const perKeyDay: Axis = { sliceMs: hourMs, slices: 24, rate: 'perKeyDay', words: 'a day' }

/** Who sends to whom. */
export interface Counted {
  readonly remoteAddress: string
  readonly recipients: readonly string[]
}

/**
 * The windows that a send counts in, as they are now. Throws `rate_limit_exceeded` when one of them is full; a write that is
 * bounded by them settles what happens at the same moment.
 */
export async function openWindows(
  database: Database,
  organizationId: string,
  key: PublishableKey,
  { remoteAddress, recipients }: Counted,
  nowMs: number,
): Promise<readonly Window[]> {
  const subjects: (readonly [Axis, string])[] = [
    [perIp, clientNetwork(remoteAddress)],
    ...[...new Set(recipients.map(foldAddress))].map((address) => [perRecipient, hash('sha256', address)] as const),
    [perKeyHour, ''],
    [perKeyDay, ''],
  ]
  const rates = ratesOf(key)
  const limited = subjects.filter(([{ rate }]) => rates[rate] > 0)
  const keyOf = (axis: Axis, subject: string) => (slice: number) => sliceCounter(organizationId, key.id, axis, subject, slice)
  return Promise.all(limited.map(([axis, subject]) => openWindow(database, axis, rates[axis.rate], keyOf(axis, subject), nowMs)))
}

const sliceCounter = (organizationId: string, keyId: string, { rate }: Axis, subject: string, slice: number): readonly Element[] => [
  organizationId,
  'counter',
  'key_rate',
  keyId,
  rate,
  subject,
  slice,
]

async function openWindow(
  { kv }: Pick<Database, 'kv'>,
  { sliceMs, slices, words }: Axis,
  limit: number,
  keyOf: (slice: number) => readonly Element[],
  nowMs: number,
): Promise<Window> {
  const current = Math.floor(nowMs / sliceMs)
  const oldest = current - slices
  const counts = await Promise.all(Array.from({ length: slices + 1 }, (_, i) => kv.counter(pack(keyOf(oldest + i)))))
  const before = counts.slice(0, -1).reduce((sum, count) => sum + count, 0)
  // room comes when the first slice that holds anything has left as a whole
  const first = counts.findIndex((count) => count > 0)
  const leaves = (oldest + (first < 0 ? slices : first) + slices + 1) * sliceMs
  const refusal = new Refusal('rate_limit_exceeded', `This key takes ${limit} sends ${words}; wait and send again.`, {
    retryAfterSeconds: Math.max(1, Math.ceil((leaves - nowMs) / 1000)),
  })
  if (before + (counts.at(-1) ?? 0) >= limit) throw refusal
  return { key: keyOf(current), most: limit - before, refusal, expiresAt: (current + slices + 2) * sliceMs }
}
