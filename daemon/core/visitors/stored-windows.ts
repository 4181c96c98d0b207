/**
 * Sliding windows over counters in the store, which the counted write itself increments. A window consists of slices. A slice that partly
 * precedes the window counts in full, so that no period of the window's length exceeds the limit. Groups of slices have additional
 * counters, so that a check reads few counters.
 */
import type { Database } from '#store/database.ts'
import type { Change } from '#store/change.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Refusal } from '../refusals.ts'

/** Length and slices of a window. */
export interface WindowShape {
  readonly sliceMs: number
  readonly slices: number
  /** Number of slices with a common counter. Only useful for many slices; a few are cheaper to read individually. */
  readonly groupSlices?: number
}

export interface WindowLimit {
  readonly shape: WindowShape
  /** Prefix of the counter keys. */
  readonly key: readonly Element[]
  readonly limit: number
  /** A longer window that the same writes count in. If it is empty, this window is also empty and needs no reads. */
  readonly longer?: WindowLimit
  /** Creates the refusal for a full window, with the seconds until the window has room. */
  readonly refusal: (retryAfterSeconds: number) => Refusal
}

/** A counter that a write increments, with its limit. */
export interface Window {
  readonly key: readonly Element[]
  readonly most: number
  /** Creates the refusal if the counter would exceed `most`. */
  readonly refusal: () => Refusal
  /** After this time, no check needs the counter. */
  readonly expiresAt: number
  /** Counter of the group of slices, if the shape has groups; incremented without limit. */
  readonly group?: { readonly key: readonly Element[]; readonly expiresAt: number }
}

/** Opens the windows at `nowMs`. Throws the refusal of a full window; of several, the refusal with the longest wait. */
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

/** A run of slices with one counter. */
interface Part {
  readonly key: readonly Element[]
  readonly firstSlice: number
}

/** Returns the slices from `oldest` to `current`. Uses group counters for complete groups, except the group of the current slice. */
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
  // the window has room when the first slice with a count has left it completely
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

/** Work in progress. */
interface InFlightTry {
  readonly slice: number
  readonly done: Promise<unknown>
}

/** Orders work on windows by slices. Work of an earlier slice ends first, because later work cannot see its counts. */
export class SliceOrder {
  readonly #sliceMs: number
  readonly #inFlight = new Map<string, Set<InFlightTry>>()

  /** Length of the finest slices; all longer slices must end together with a finest slice. */
  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Runs `work` after all earlier work of this owner has ended, successful or not. */
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

/** Adds the group counter, which has no limit, to a write. */
export function countInGroup(change: Change, { group }: Pick<Window, 'group'>): void {
  if (group) change.add(group.key, 1).expire(group.expiresAt, group.key)
}
