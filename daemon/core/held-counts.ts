/**
 * Counts that are held for a second and then written together, so that what is counted costs no write of its own; a crash loses that
 * second.
 */
import type { Clock, Timer } from './clock.ts'

export interface HeldCountsOptions<Held> {
  readonly clock: Clock
  /** Writes what was held; resolves when that is durable. */
  readonly write: (held: ReadonlyMap<string, Held>) => Promise<unknown>
  /** Is notified of a write that failed; what it held is lost. */
  readonly onError: (error: unknown) => void
}

const heldMs = 1000

export class HeldCounts<Held> {
  readonly #options: HeldCountsOptions<Held>
  #held = new Map<string, Held>()
  #timer: Timer | undefined
  #writing: Promise<unknown> = Promise.resolve()

  constructor(options: HeldCountsOptions<Held>) {
    this.#options = options
  }

  /** What is held under the name, to be added to at once; it begins as `none` when nothing is. */
  of(name: string, none: () => Held): Held {
    const held = this.#held.get(name) ?? none()
    this.#held.set(name, held)
    this.#timer ??= this.#options.clock.after(heldMs, () => this.#write())
    return held
  }

  /** Writes what is held; resolves when that, and all before it, is durable. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#write()
    await this.#writing
  }

  #write(): void {
    this.#timer = undefined
    if (this.#held.size === 0) return
    const held = this.#held
    this.#held = new Map()
    this.#writing = Promise.all([this.#writing, this.#options.write(held).catch(this.#options.onError)])
  }
}
