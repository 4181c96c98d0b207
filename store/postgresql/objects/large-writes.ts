/**
 * Stores large values as objects before their writes join a group, so that small writes do not wait for them. A later write with a key in
 * common waits for the earlier write, because writes are applied in order of arrival.
 */
import { StoreFailure, type Bytes, type Write, type WriteResult } from '../../kv.ts'
import { keyName } from '../../tuple.ts'
import type { LargeValues } from './large-values.ts'

export class LargeWrites {
  readonly #values: LargeValues
  readonly #join: (write: Write) => Promise<WriteResult>
  readonly #forget: (names: readonly string[]) => void
  /** For each key, the latest write that is not in a group yet. */
  readonly #latest = new Map<string, Promise<void>>()
  readonly #inFlight = new Set<Promise<void>>()
  #isClosed = false

  /** `join` adds a write to the next group. `forget` removes objects that no row will name. */
  constructor(values: LargeValues, join: (write: Write) => Promise<WriteResult>, forget: (names: readonly string[]) => void) {
    this.#values = values
    this.#join = join
    this.#forget = forget
  }

  get waiting(): number {
    return this.#inFlight.size
  }

  /** Throws `StoreAway` if the object storage is unreachable. Nothing is written then. */
  write(write: Write): Promise<WriteResult> {
    if (this.#isClosed) return Promise.reject(new StoreFailure('The store is closed.'))
    const large = write.sets.filter((setting) => this.#values.isLarge(setting))
    const keys = large.length > 0 || this.#latest.size > 0 ? keysOf(write).map(keyName) : []
    const before = new Set(keys.flatMap((key) => this.#latest.get(key) ?? []))
    return large.length === 0 && before.size === 0 ? this.#join(write) : this.#later(write, keys, [...before])
  }

  /** Resolves when all writes have joined a group or failed. Later writes are refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#inFlight)
  }

  #later(write: Write, keys: readonly string[], before: readonly Promise<void>[]): Promise<WriteResult> {
    const { promise, resolve, reject } = Promise.withResolvers<WriteResult>()
    const joined = Promise.allSettled([this.#kept(write), ...before] as const)
      .then(([kept]) => {
        if (kept.status === 'rejected') reject(kept.reason)
        else resolve(this.#joined(write))
      })
      .finally(() => {
        this.#inFlight.delete(joined)
        for (const key of keys) if (this.#latest.get(key) === joined) this.#latest.delete(key)
      })
    this.#inFlight.add(joined)
    for (const key of keys) this.#latest.set(key, joined)
    return promise
  }

  async #kept({ sets }: Write): Promise<void> {
    const large = sets.filter((setting) => this.#values.isLarge(setting))
    const done = await Promise.allSettled(large.map((setting) => this.#values.keep(setting)))
    const failed = done.find((one) => one.status === 'rejected')
    if (!failed) return
    this.#forget(this.#values.namesOf(large))
    throw failed.reason
  }

  async #joined(write: Write): Promise<WriteResult> {
    const result = await this.#join(write)
    if (!result.ok) this.#forget(this.#values.namesOf(write.sets))
    return result
  }
}

function keysOf({ checks, sets, deletes, adds, tallies = [] }: Write): Bytes[] {
  return [...[checks, sets, adds, tallies].flatMap((parts) => parts.map(({ key }) => key)), ...deletes]
}
