/**
 * How often a key was used lately: sliding windows over counters in the store, which grow in the very write that takes a
 * message. A window is cut into slices, and one that has begun to leave still counts as a whole, so that no stretch of its
 * length ever sees more sends than the key allows. Slices are counted in groups too, so that few counters have to be read.
 */
import { hash } from 'node:crypto'
import { Change } from '#store/change.ts'
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
  /** The counter of its group of slices, which the write adds to as well, without a bound. */
  readonly group: { readonly key: readonly Element[]; readonly expiresAt: number }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Every slice ends when one of these does. */
const finestSliceMs = minuteMs

interface Axis {
  readonly rate: keyof Rates
  readonly sliceMs: number
  readonly slices: number
  /** Slices that are counted together too. */
  readonly groupSlices: number
  readonly code: 'rate_limit_exceeded' | 'quota_exhausted'
  /** Completes "takes N sends …". */
  readonly words: string
}

const inHour = { sliceMs: minuteMs, slices: 60, groupSlices: 10, code: 'rate_limit_exceeded' } as const
const perIp: Axis = { ...inHour, rate: 'perIpHour', words: 'an hour from one network address' }
const perRecipient: Axis = { ...inHour, rate: 'perRecipientHour', words: 'an hour to one recipient' }
const perKeyHour: Axis = { ...inHour, rate: 'perKeyHour', words: 'an hour' }
const perKeyDay: Axis = {
  ...{ sliceMs: 15 * minuteMs, slices: 96, groupSlices: 8, code: 'quota_exhausted' },
  ...{ rate: 'perKeyDay', words: 'a day' },
}

/** Who sends to whom. */
export interface Counted {
  readonly remoteAddress: string
  readonly recipients: readonly string[]
}

export interface KeyWindowsOptions {
  readonly database: Pick<Database, 'kv' | 'commit'>
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

  /** Throws `rate_limit_exceeded` when a window of an hour of the key is full, `quota_exhausted` when that of the day is. */
  async check(organizationId: string, key: PublishableKey, counted: Counted): Promise<void> {
    await this.#open(organizationId, key, counted, this.#options.clock.now())
  }

  /**
   * Runs `send` with the windows that the send counts in, as they are now; a write that is bounded by them settles what happens
   * at the same moment. Sends of the key that began in an earlier slice end first: this one could not see them. Throws
   * as `check` does.
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

  /**
   * For the door, before it reads a body: throws `rate_limit_exceeded` when a window is full and the address had bodies refused in
   * the last hour. Others go on, as theirs can be the repetition of a send that was taken.
   */
  async admit(organizationId: string, key: PublishableKey, remoteAddress: string): Promise<void> {
    const current = Math.floor(this.#options.clock.now() / finestSliceMs)
    const slices = Array.from({ length: inHour.slices + 1 }, (_, i) => refusedCounter(organizationId, key.id, remoteAddress, current - i))
    const counts = await Promise.all(slices.map((slice) => this.#options.database.kv.counter(pack(slice))))
    if (counts.some((count) => count > 0)) await this.check(organizationId, key, { remoteAddress, recipients: [] })
  }

  /** Counts a body that was refused in every window but those of recipients, as it has none that were looked at. */
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
      ...windows.map(({ group }) => group),
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
    const { database } = this.#options
    const subjects: (readonly [Axis, string])[] = [
      [perIp, clientNetwork(remoteAddress)],
      ...[...new Set(recipients.map(foldAddress))].map((address) => [perRecipient, hash('sha256', address)] as const),
      [perKeyHour, ''],
      [perKeyDay, ''],
    ]
    const rates = ratesOf(key)
    const limited = subjects.filter(([{ rate }]) => rates[rate] > 0)
    const keyOf =
      (axis: Axis, subject: string): KeyOf =>
      (part, index) =>
        partCounter(organizationId, key.id, axis, subject, part, index)
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

type KeyOf = (part: 'slice' | 'group', index: number) => readonly Element[]

const partCounter = (
  organizationId: string,
  keyId: string,
  { rate }: Axis,
  subject: string,
  part: string,
  index: number,
): readonly Element[] => [organizationId, 'counter', 'key_use', keyId, rate, subject, part, index]

/** A run of slices that one counter tells of. */
interface Part {
  readonly key: readonly Element[]
  readonly firstSlice: number
}

/** The slices from `oldest` to `current`, groups where they lie inside as a whole, but for the one that is still filled. */
function partsOf({ groupSlices }: Axis, keyOf: KeyOf, oldest: number, current: number): Part[] {
  const parts: Part[] = []
  for (let slice = oldest; slice <= current;) {
    const isGroup = slice % groupSlices === 0 && slice + groupSlices <= current
    const key = isGroup ? keyOf('group', slice / groupSlices) : keyOf('slice', slice)
    parts.push({ key, firstSlice: slice })
    slice += isGroup ? groupSlices : 1
  }
  return parts
}

const refusedCounter = (organizationId: string, keyId: string, remoteAddress: string, slice: number): readonly Element[] => [
  organizationId,
  'counter',
  'key_rate',
  keyId,
  'refused',
  clientNetwork(remoteAddress),
  slice,
]

async function openWindow(
  { kv }: Pick<Database, 'kv'>,
  axis: Axis,
  limit: number,
  keyOf: KeyOf,
  nowMs: number,
): Promise<Window & { readonly isFull: boolean }> {
  const { sliceMs, slices, groupSlices, words, code } = axis
  const current = Math.floor(nowMs / sliceMs)
  const oldest = current - slices
  const parts = partsOf(axis, keyOf, oldest, current)
  const countOf = (key: readonly Element[]): Promise<number> => kv.counter(pack(key))
  const counts = await Promise.all(parts.map(({ key }) => countOf(key)))
  const before = counts.slice(0, -1).reduce((sum, count) => sum + count, 0)
  const isFull = before + (counts.at(-1) ?? 0) >= limit
  // room comes when the first slice that holds anything has left as a whole
  let first = parts[counts.findIndex((count) => count > 0)]?.firstSlice ?? current
  if (isFull) while (first < current && (await countOf(keyOf('slice', first))) === 0) first++
  const refusal = new Refusal(code, `This key takes ${limit} sends ${words}; wait and send again.`, {
    nextAction: 'retry_later',
    retryAfterSeconds: Math.max(1, Math.ceil(((first + slices + 1) * sliceMs - nowMs) / 1000)),
  })
  const group = Math.floor(current / groupSlices)
  return {
    ...{ isFull, key: keyOf('slice', current), most: limit - before, refusal, expiresAt: (current + slices + 2) * sliceMs },
    group: { key: keyOf('group', group), expiresAt: ((group + 1) * groupSlices + slices + 2) * sliceMs },
  }
}
