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
import type { Clock } from '../clock.ts'
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
/** Every slice ends when one of these does. */
const finestSliceMs = hourMs / 12

interface Axis {
  readonly rate: keyof Rates
  readonly sliceMs: number
  readonly slices: number
  /** Completes "takes N sends …". */
  readonly words: string
}

const inHour = { sliceMs: finestSliceMs, slices: 12 }
const perIp: Axis = { ...inHour, rate: 'perIpHour', words: 'an hour from one network address' }
const perRecipient: Axis = { ...inHour, rate: 'perRecipientHour', words: 'an hour to one recipient' }
const perKeyHour: Axis = { ...inHour, rate: 'perKeyHour', words: 'an hour' }
const perKeyDay: Axis = { sliceMs: hourMs, slices: 24, rate: 'perKeyDay', words: 'a day' }

/** Who sends to whom. */
export interface Counted {
  readonly remoteAddress: string
  readonly recipients: readonly string[]
}

export interface KeyWindowsOptions {
  readonly database: Pick<Database, 'kv'>
  readonly clock: Pick<Clock, 'now'>
}

/** A send that is being written. */
interface UnderWay {
  /** In which of the finest slices its windows were opened. */
  readonly slice: number
  readonly done: Promise<unknown>
}

export class KeyWindows {
  readonly #options: KeyWindowsOptions
  readonly #underWay = new Map<string, Set<UnderWay>>()

  constructor(options: KeyWindowsOptions) {
    this.#options = options
  }

  /** Throws `rate_limit_exceeded` when a window of the key is full. */
  async check(organizationId: string, key: PublishableKey, counted: Counted): Promise<void> {
    await this.#open(organizationId, key, counted, this.#options.clock.now())
  }

  /**
   * Runs `send` with the windows that the send counts in, as they are now; a write that is bounded by them settles what happens
   * at the same moment. Sends of the key that began in an earlier slice end first: this one could not see them. Throws
   * `rate_limit_exceeded`.
   */
  during<T>(organizationId: string, key: PublishableKey, counted: Counted, send: (windows: readonly Window[]) => Promise<T>): Promise<T> {
    const nowMs = this.#options.clock.now()
    const slice = Math.floor(nowMs / finestSliceMs)
    const others = this.#underWay.get(key.id) ?? new Set()
    const earlier = [...others].filter((other) => other.slice < slice).map(({ done }) => done)
    const work = async () => {
      await Promise.allSettled(earlier)
      return send(await this.#open(organizationId, key, counted, nowMs))
    }
    const done = work()
    const entry = { slice, done }
    this.#underWay.set(key.id, others.add(entry))
    const end = () => {
      others.delete(entry)
      if (others.size === 0) this.#underWay.delete(key.id)
    }
    void done.then(end, end)
    return done
  }

  async #open(
    organizationId: string,
    key: PublishableKey,
    { remoteAddress, recipients }: Counted,
    nowMs: number,
  ): Promise<readonly Window[]> {
    const { database } = this.#options
    const subjects: (readonly [Axis, string])[] = [
      [perIp, clientNetwork(remoteAddress)],
      ...[...new Set(recipients.map(foldAddress))].map((address) => [perRecipient, hash('sha256', address)] as const),
      [perKeyHour, ''],
      [perKeyDay, ''],
    ]
    const rates = ratesOf(key)
    const limited = subjects.filter(([{ rate }]) => rates[rate] > 0)
    const keyOf = (axis: Axis, subject: string) => (slice: number) => sliceCounter(organizationId, key.id, axis, subject, slice)
    const windows = await Promise.all(
      limited.map(([axis, subject]) => openWindow(database, axis, rates[axis.rate], keyOf(axis, subject), nowMs)),
    )
    const [longest] = windows.filter(({ isFull }) => isFull).toSorted((a, b) => waitOf(b) - waitOf(a))
    if (longest) throw longest.refusal
    return windows
  }
}

/** Of several full windows, the one that opens last tells when to come again. */
const waitOf = ({ refusal }: Window): number => refusal.retryAfterSeconds ?? 0

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
): Promise<Window & { readonly isFull: boolean }> {
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
  const isFull = before + (counts.at(-1) ?? 0) >= limit
  return { isFull, key: keyOf(current), most: limit - before, refusal, expiresAt: (current + slices + 2) * sliceMs }
}
