/** Collects counts for a second and writes them together, so that counting needs no separate write. A crash loses that second. */
import type { Clock, Timer } from './clock.ts'

export interface HeldCountsOptions<Held> {
  readonly clock: Clock
  /** Writes the collected counts; resolves when they are durable. */
  readonly write: (held: ReadonlyMap<string, Held>) => Promise<unknown>
  /** Notified of a failed write; its counts are lost. */
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

  /** Returns the counts collected under the name, initially `none()`. The caller must add to them synchronously. */
  of(name: string, none: () => Held): Held {
    const held = this.#held.get(name) ?? none()
    this.#held.set(name, held)
    this.#timer ??= this.#options.clock.after(heldMs, () => this.#write())
    return held
  }

  /** Writes the collected counts. Resolves when all counts are durable. */
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
