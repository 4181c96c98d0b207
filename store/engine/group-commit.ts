/** Writes that wait at the same moment become durable together: one group after the other, in order of arrival. */
import { StoreFailure, type Write, type WriteResult } from '../kv.ts'
import type { GroupSize } from './group.ts'

/** What became durable at once. */
export interface CommittedGroup extends GroupSize {
  /** Atomic writes, those that were refused among them. */
  readonly writes: number
  readonly milliseconds: number
}

/** The outcome of one group, once it is durable. */
export interface Committed {
  readonly results: readonly WriteResult[]
  readonly size: GroupSize
}

export interface GroupOptions {
  /** Is notified of the first failure of the medium, after which nothing is acknowledged any more. */
  readonly onFailure?: (error: StoreFailure) => void
  /** Is notified of every group commit. */
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

  /** `commit` makes a group durable, of at most `maxWrites`; when it throws, the medium has failed for good. */
  constructor(commit: (writes: readonly Write[]) => Promise<Committed>, options: GroupOptions, maxWrites = Infinity) {
    this.#commit = commit
    this.#options = options
    this.#maxWrites = maxWrites
  }

  /** Those that no group has taken yet. */
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

  /** Refuses later writes; resolves when those before are done. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#flushing
  }

  async #flush(): Promise<void> {
    await new Promise(setImmediate) // let everything that arrived with this turn of the event loop join
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
    this.#flushing = undefined // in the same tick as the loop's last look, so that no write is left waiting
  }

  #take(): Pending[] {
    const group = this.#pending
    this.#pending = group.length > this.#maxWrites ? group.splice(this.#maxWrites) : []
    return group
  }

  /** What no group has taken is known not to be written. */
  #fail(cause: unknown, group: readonly Pending[]): void {
    const failure = cause instanceof StoreFailure ? cause : new StoreFailure('The store could not write; the process must end.', { cause })
    this.#failure = failure.isUndecided ? new StoreFailure(failure.message, { cause: failure }) : failure
    for (const { fail } of group) fail(failure)
    for (const { fail } of this.#pending.splice(0)) fail(this.#failure)
    this.#options.onFailure?.(failure)
  }
}
