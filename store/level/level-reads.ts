/** Reads from LevelDB. During a group commit, all reads see the state before the group. */
import type { Level } from 'level'
import { StoreDamaged, StoreFailure, type Bytes } from '../kv.ts'
import { seal } from '../engine/codec.ts'
import type { Operation } from '../engine/group.ts'
import { keyName } from '../tuple.ts'
import { RecentValues } from './recent.ts'

export type Engine = Level<Uint8Array, Uint8Array>
type Snapshot = ReturnType<Engine['snapshot']>

export interface Walk {
  readonly gte: Bytes
  readonly lt: Bytes
  readonly reverse: boolean
  readonly limit?: number
  /** Number of rows that the caller expects to read. */
  readonly rowsWanted?: number
}

/** A snapshot of LevelDB with several users. It is closed after the last of them has released it. */
export class SharedSnapshot {
  readonly snapshot: Snapshot
  #users = 1

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
  }

  share(): this {
    this.#users++
    return this
  }

  async release(): Promise<void> {
    if (--this.#users === 0) await this.snapshot.close()
  }
}

const maxRecentBytes = 12 * 1024 * 1024
/**
 * Rows of the first read of a walk, and of each further read. Each read is a task of the thread pool, which costs more than the rows of
 * most ranges. LevelDB also ends a read after 16 KiB.
 */
const [firstRows, moreRows] = [64, 1000]
const emptyStoredBytes = seal(0n, Buffer.alloc(0)).length

export class LevelReads {
  readonly #db: Engine
  readonly #onCorruption: () => void
  readonly #recent = new RecentValues(maxRecentBytes)
  /** State before the group in commit. */
  #before: SharedSnapshot | undefined
  #isClosed = false

  constructor(db: Engine, onCorruption: () => void) {
    this.#db = db
    this.#onCorruption = onCorruption
  }

  /** Makes later reads throw `StoreFailure`, because LevelDB would end the process. */
  close(): void {
    this.#isClosed = true
  }

  /** Hides the next group from reads until `show`. */
  hide(): void {
    this.#before = new SharedSnapshot(this.#db.snapshot())
  }

  /** Shows the group, which is durable, to reads. */
  show(operations: readonly Operation[]): void {
    for (const { type, key, value, isNew, isCold } of operations) {
      // index rows have empty values and cold values are rarely read; caching them would waste memory
      if (type === 'put' && value.length > emptyStoredBytes && !isCold) this.#recent.put(keyName(key), value)
      else if (!isNew) this.#recent.delete(keyName(key))
    }
    void this.#before?.release()
    this.#before = undefined
  }

  /** Returns the state that reads see now. The caller releases it. */
  freeze(): SharedSnapshot {
    this.#requireOpen()
    return this.#before?.share() ?? new SharedSnapshot(this.#db.snapshot())
  }

  /** Returns the stored value, with its header. Throws `StoreDamaged`. */
  look(key: Bytes): Bytes | undefined {
    this.#requireOpen()
    const recent = this.#recent.get(keyName(key))
    if (recent) return recent
    try {
      return this.#before ? this.#db.getSync(key, { snapshot: this.#before.snapshot }) : this.#db.getSync(key)
    } catch (error) {
      throw this.#unreadable(error, key)
    }
  }

  /** Returns the rows of a range. Throws `StoreDamaged`. */
  async *walk({ rowsWanted = Infinity, ...bounds }: Walk): AsyncIterable<[Bytes, Bytes]> {
    this.#requireOpen()
    const state = this.#before?.share()
    const iterator = this.#db.iterator({ ...bounds, ...(state && { snapshot: state.snapshot }) })
    try {
      let rows = await iterator.nextv(Math.min(rowsWanted, firstRows))
      while (rows.length > 0) {
        yield* rows
        rows = await iterator.nextv(moreRows)
      }
    } catch (error) {
      throw this.#unreadable(error)
    } finally {
      await iterator.close()
      await state?.release()
    }
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StoreFailure('The store is closed.')
  }

  #unreadable(cause: unknown, key?: Bytes): StoreDamaged {
    if (isCorruption(cause)) this.#onCorruption()
    return new StoreDamaged(`The store could not be read: ${(cause as Error).message}`, { cause, ...(key && { key }) })
  }
}

/** LevelDB has reported damage. */
export const isCorruption = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === 'LEVEL_CORRUPTION') || isCorruption(error.cause))
