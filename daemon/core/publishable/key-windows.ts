/** Rate limits of a publishable key: four sliding windows, counted in the write that accepts a message or counts a refused body. */
import { hash } from 'node:crypto'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { clientNetwork } from '../access/client-network.ts'
import { foldAddress } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { openWindows, SliceOrder, type Window, type WindowLimit, type WindowShape } from '../visitors/stored-windows.ts'
import { ratesOf, type PublishableKey, type Rates } from './publishable-key.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Every slice ends together with one of these slices. */
const finestSliceMs = minuteMs
const hour: WindowShape = { sliceMs: minuteMs, slices: 60, groupSlices: 10 }
const day: WindowShape = { sliceMs: 15 * minuteMs, slices: 96, groupSlices: 8 }

interface Axis {
  readonly rate: keyof Rates
  readonly shape: WindowShape
  readonly code: 'rate_limit_exceeded' | 'quota_exhausted'
  /** Completes "This key allows N sends …". */
  readonly text: string
}

const inHour = { shape: hour, code: 'rate_limit_exceeded' } as const
const perIp: Axis = { ...inHour, rate: 'perIpHour', text: 'per hour from one network address' }
const perRecipient: Axis = { ...inHour, rate: 'perRecipientHour', text: 'per hour to one recipient' }
const perKeyHour: Axis = { ...inHour, rate: 'perKeyHour', text: 'per hour' }
const perKeyDay: Axis = { shape: day, code: 'quota_exhausted', rate: 'perKeyDay', text: 'per day' }

/** Client address and recipients of a send. */
export interface Counted {
  readonly remoteAddress: string
  readonly recipients: readonly string[]
}

export interface KeyWindowsOptions {
  readonly database: Pick<Database, 'kv' | 'commit'>
  readonly clock: Pick<Clock, 'now'>
}

export class KeyWindows {
  readonly #options: KeyWindowsOptions
  readonly #order = new SliceOrder(finestSliceMs)

  constructor(options: KeyWindowsOptions) {
    this.#options = options
  }

  /** Throws `rate_limit_exceeded` if an hourly window of the key is full, and `quota_exhausted` if the daily window is full. */
  async check(organizationId: string, key: PublishableKey, counted: Counted): Promise<void> {
    await this.#open(organizationId, key, counted, this.#options.clock.now())
  }

  /**
   * Calls `send` with the current windows of the send; the write counts against their limits, so that concurrent sends cannot exceed them.
   * Waits for sends of the key in earlier slices, which the counts would miss. Throws like `check`.
   */
  during<T>(organizationId: string, key: PublishableKey, counted: Counted, send: (windows: readonly Window[]) => Promise<T>): Promise<T> {
    const nowMs = this.#options.clock.now()
    return this.#order.run(key.id, nowMs, async () => send(await this.#open(organizationId, key, counted, nowMs)))
  }

  /**
   * Checks a request without its body. Throws `rate_limit_exceeded` if a window is full and the address had refused bodies in the last
   * hour. Other addresses pass, because their request can repeat an accepted send.
   */
  async admit(organizationId: string, key: PublishableKey, remoteAddress: string): Promise<void> {
    const current = Math.floor(this.#options.clock.now() / finestSliceMs)
    const slices = Array.from({ length: hour.slices + 1 }, (_, i) => refusedCounter(organizationId, key.id, remoteAddress, current - i))
    const counts = await Promise.all(slices.map((slice) => this.#options.database.kv.counter(pack(slice))))
    if (counts.some((count) => count > 0)) await this.check(organizationId, key, { remoteAddress, recipients: [] })
  }

  /** Counts a refused body in every window except the recipient windows, because its recipients are unknown. */
  async countRefused(organizationId: string, key: PublishableKey, remoteAddress: string): Promise<void> {
    const nowMs = this.#options.clock.now()
    const windows = await this.#open(organizationId, key, { remoteAddress, recipients: [] }, nowMs).catch((error: unknown) => {
      if (error instanceof Refusal) return []
      throw error
    })
    const change = new Change()
    const refused = refusedCounter(organizationId, key.id, remoteAddress, Math.floor(nowMs / finestSliceMs))
    for (const { key: counter, expiresAt } of [
      ...windows,
      ...windows.flatMap(({ group }) => group ?? []),
      { key: refused, expiresAt: nowMs + hourMs + 2 * finestSliceMs },
    ])
      change.add(counter, 1).expire(expiresAt, counter)
    await this.#options.database.commit(change)
  }

  async #open(
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
    const limits = subjects
      .filter(([{ rate }]) => rates[rate] > 0)
      .map(([axis, subject]) => limitOf(axis, rates[axis.rate], [organizationId, 'counter', 'key_use', key.id, axis.rate, subject]))
    return openWindows(this.#options.database, limits, nowMs)
  }
}

const limitOf = ({ shape, code, text }: Axis, limit: number, key: readonly Element[]): WindowLimit => ({
  ...{ shape, key, limit },
  refusal: (retryAfterSeconds) =>
    new Refusal(code, `This key allows ${limit} sends ${text}; wait and send again.`, { nextAction: 'retry_later', retryAfterSeconds }),
})

const refusedCounter = (organizationId: string, keyId: string, remoteAddress: string, slice: number): readonly Element[] => [
  organizationId,
  'counter',
  'key_rate',
  keyId,
  'refused',
  clientNetwork(remoteAddress),
  slice,
]
