/**
 * How often something was done lately: sliding windows over counters in the store, which grow in the very write that does it.
 * A window is cut into slices, and one that has begun to leave still counts as a whole, so that no stretch of its length ever
 * sees more than its limit. Slices are counted in groups too, so that few counters have to be read.
 */
import type { Database } from '#store/database.ts'
import type { Change } from '#store/change.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Refusal } from '../refusals.ts'

/** The length of a window, and how it is cut. */
export interface WindowShape {
  readonly sliceMs: number
  readonly slices: number
  /** Slices that are counted together too, where there are many; no more than a group has are cheaper to read one by one. */
  readonly groupSlices?: number
}

export interface WindowLimit {
  readonly shape: WindowShape
  /** What is counted, as the beginning of the keys of its counters. */
  readonly key: readonly Element[]
  readonly limit: number
  /** A longer window that the same writes count in: where that is empty, so is this one, and none of its counters are read. */
  readonly longer?: WindowLimit
  /** Made for a window that is full; the seconds are those until there is room again. */
  readonly refusal: (retryAfterSeconds: number) => Refusal
}

/** A counter that a write adds to, and what it may come to. */
export interface Window {
  readonly key: readonly Element[]
  readonly most: number
  /** What the write is refused with when the counter would pass it; made when it is. */
  readonly refusal: () => Refusal
  /** From when on the counter is not read any more. */
  readonly expiresAt: number
  /** The counter of its group of slices, where it has groups, which the write adds to as well, without a bound. */
  readonly group?: { readonly key: readonly Element[]; readonly expiresAt: number }
}

/** Opens the windows as they are at `nowMs`. Throws the refusal of a full one; of several, that of the one that opens last. */
export async function openWindows(
  database: Pick<Database, 'kv'>,
  limits: readonly WindowLimit[],
  nowMs: number,
): Promise<readonly Window[]> {
  const opened = new Map<WindowLimit, Promise<OpenWindow>>()
  const open = (limit: WindowLimit): Promise<OpenWindow> => {
    const known = opened.get(limit) ?? openWindow(database, limit, nowMs, limit.longer && open(limit.longer))
    opened.set(limit, known)
    return known
  }
  const windows = await Promise.all(limits.map(open))
  const [longest] = windows.filter(({ isFull }) => isFull).toSorted((a, b) => waitOf(b) - waitOf(a))
  if (longest) throw longest.refusal()
  return windows
}

const waitOf = ({ refusal }: Window): number => refusal().retryAfterSeconds ?? 0

/** A run of slices under one counter. */
interface Part {
  readonly key: readonly Element[]
  readonly firstSlice: number
}

/** The slices from `oldest` to `current`, groups where they lie inside as a whole, but for the one that is still filled. */
function partsOf({ key, shape: { groupSlices = Infinity } }: WindowLimit, oldest: number, current: number): Part[] {
  const parts: Part[] = []
  for (let slice = oldest; slice <= current;) {
    const isGroup = slice % groupSlices === 0 && slice + groupSlices <= current
    parts.push({ key: [...key, ...(isGroup ? ['group', slice / groupSlices] : ['slice', slice])], firstSlice: slice })
    slice += isGroup ? groupSlices : 1
  }
  return parts
}

interface OpenWindow extends Window {
  readonly isFull: boolean
  readonly isEmpty: boolean
}

async function openWindow(
  { kv }: Pick<Database, 'kv'>,
  window: WindowLimit,
  nowMs: number,
  longer: Promise<OpenWindow> | undefined,
): Promise<OpenWindow> {
  const { key, limit } = window
  const { sliceMs, slices, groupSlices } = window.shape
  const current = Math.floor(nowMs / sliceMs)
  const parts = partsOf(window, current - slices, current)
  const countOf = (counter: readonly Element[]): Promise<number> => kv.counter(pack(counter))
  const counts = (await longer)?.isEmpty ? [] : await Promise.all(parts.map((part) => countOf(part.key)))
  const before = counts.slice(0, -1).reduce((sum, count) => sum + count, 0)
  const all = before + (counts.at(-1) ?? 0)
  const [isFull, isEmpty] = [all >= limit, all === 0]
  // room comes when the first slice that holds anything has left as a whole
  let first = parts[counts.findIndex((count) => count > 0)]?.firstSlice ?? current
  if (isFull) while (first < current && (await countOf([...key, 'slice', first])) === 0) first++
  const refusal = (): Refusal => window.refusal(Math.max(1, Math.ceil(((first + slices + 1) * sliceMs - nowMs) / 1000)))
  const open = {
    isFull,
    isEmpty,
    key: [...key, 'slice', current],
    most: limit - before,
    refusal,
    expiresAt: (current + slices + 2) * sliceMs,
  }
  if (groupSlices === undefined) return open
  const group = Math.floor(current / groupSlices)
  return { ...open, group: { key: [...key, 'group', group], expiresAt: ((group + 1) * groupSlices + slices + 2) * sliceMs } }
}

/** Work that is being done. */
interface InFlightTry {
  readonly slice: number
  readonly done: Promise<unknown>
}

/** Work on windows in the order of their slices: what began in an earlier slice ends first, as later work could not see it. */
export class SliceOrder {
  readonly #sliceMs: number
  readonly #inFlight = new Map<string, Set<InFlightTry>>()

  /** The length of the finest slices, with each of which all others end. */
  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Runs `work` when all earlier work of this owner has ended, however it ended. */
  run<T>(owner: string, nowMs: number, work: () => Promise<T>): Promise<T> {
    const slice = Math.floor(nowMs / this.#sliceMs)
    const others = this.#inFlight.get(owner) ?? new Set()
    const earlier = [...others].filter((other) => other.slice < slice).map(({ done }) => done)
    const done = Promise.allSettled(earlier).then(work)
    const entry = { slice, done }
    this.#inFlight.set(owner, others.add(entry))
    const end = () => {
      others.delete(entry)
      if (others.size === 0) this.#inFlight.delete(owner)
    }
    void done.then(end, end)
    return done
  }
}

/** Adds to a write the counters that it counts in without a bound of their own. */
export function countInGroup(change: Change, { group }: Pick<Window, 'group'>): void {
  if (group) change.add(group.key, 1).expire(group.expiresAt, group.key)
}
