/** Work that is done in rounds, each of which does all that waits in the store; what comes in one is found by the next. */

export interface WorkLoopOptions {
  /** Does what waits, and ends early when `stopping` is set. */
  readonly round: () => Promise<void>
  /** Is notified of a round that failed; the next wake begins another one. */
  readonly onError: (error: unknown) => void
}

export class WorkLoop {
  readonly #options: WorkLoopOptions
  #running: Promise<void> | undefined
  #again = false
  #stopping = false

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Something may be waiting. */
  wake(): void {
    if (this.#stopping) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Lets no other round begin, and waits for the one under way. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopping) {
      this.#again = false
      try {
        await this.#options.round()
      } catch (error) {
        this.#options.onError(error)
      }
    }
    this.#running = undefined // in the same tick as the last look at `#again`
  }
}
