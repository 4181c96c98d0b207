/** Collects writes into groups. Each group becomes durable in one step; groups follow each other in order of arrival. */
import { StoreFailure, type Write, type WriteResult } from '../kv.ts'
import type { GroupSize } from './group.ts'

/** A durable group. */
export interface CommittedGroup extends GroupSize {
  /** Number of atomic writes, including refused writes. */
  readonly writes: number
  readonly milliseconds: number
}

/** Outcome of a durable group. */
export interface Committed {
  readonly results: readonly WriteResult[]
  readonly size: GroupSize
}

export interface GroupOptions {
  /** Is called once, at the first failure of the storage. No later write is acknowledged. */
  readonly onFailure?: (error: StoreFailure) => void
  /** Is called after each group commit. */
  readonly onGroup?: (group: CommittedGroup) => void
}

interface Pending {
  readonly write: Write
  readonly settle: (result: WriteResult) => void
  readonly fail: (error: unknown) => void
}

export class GroupCommit {
  readonly #commit: (writes: readonly Write[]) => Promise<Committed>
  readonly #options: GroupOptions
  readonly #maxWrites: number
  #pending: Pending[] = []
  #flushing: Promise<void> | undefined
  #failure: StoreFailure | undefined
  #isClosing = false

  /** `commit` makes a group of at most `maxWrites` writes durable. If it throws, the storage has failed permanently. */
  constructor(commit: (writes: readonly Write[]) => Promise<Committed>, options: GroupOptions, maxWrites = Infinity) {
    this.#commit = commit
    this.#options = options
    this.#maxWrites = maxWrites
  }

  /** Number of writes that are not in a group yet. */
  get waiting(): number {
    return this.#pending.length
  }

  write(write: Write): Promise<WriteResult> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#isClosing) return Promise.reject(new StoreFailure('The store is closed.'))
    const { promise, resolve, reject } = Promise.withResolvers<WriteResult>()
    this.#pending.push({ write, settle: resolve, fail: reject })
    this.#flushing ??= this.#flush()
    return promise
  }

  /** Refuses later writes. Resolves when all earlier writes are done. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#flushing
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate) // all writes of this turn of the event loop join the group
    while (this.#pending.length > 0) {
      const group = this.#take()
      const began = performance.now()
      let size: GroupSize
      try {
        const committed = await this.#commit(group.map(({ write }) => write))
        size = committed.size
        group.forEach(({ settle }, i) => settle(committed.results[i] as WriteResult))
      } catch (error) {
        this.#fail(error, group)
        return
      }
      this.#options.onGroup?.({ writes: group.length, milliseconds: performance.now() - began, ...size })
    }
    this.#flushing = undefined // in the same tick as the last check of the loop, so that no write waits without a flush
  }

  #take(): Pending[] {
    const group = this.#pending
    this.#pending = group.length > this.#maxWrites ? group.splice(this.#maxWrites) : []
    return group
  }

  /** Writes outside the group are certainly unwritten, so their failure is never undecided. */
  #fail(cause: unknown, group: readonly Pending[]): void {
    const failure = cause instanceof StoreFailure ? cause : new StoreFailure('The store could not write; the process must end.', { cause })
    this.#failure = failure.isUndecided ? new StoreFailure(failure.message, { cause: failure }) : failure
    for (const { fail } of group) fail(failure)
    for (const { fail } of this.#pending.splice(0)) fail(this.#failure)
    this.#options.onFailure?.(failure)
  }
}
