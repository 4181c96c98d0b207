/** How often something may be done: a sliding window, by who does it. */
import { Refusal } from '../refusals.ts'
import { Tries, type TryOptions } from './tries.ts'

export interface RateLimit {
  /** What is limited, the same at all daemons and for nothing else. */
  readonly name: string
  readonly windowMs: number
  readonly most: number
  /** Said to who tried too often. */
  readonly message: string
}

export class RateWindow {
  readonly #limit: RateLimit
  readonly #tries: Tries

  constructor(options: TryOptions, limit: RateLimit) {
    this.#limit = limit
    this.#tries = new Tries(options, limit.name, limit)
  }

  /** Counts one try. Throws `rate_limit_exceeded`, which counts nothing. */
  async take(key: string): Promise<void> {
    const { tries, waitMs } = await this.#tries.add(key)
    this.#refuseBeyond(tries, waitMs)
  }

  /** Throws `rate_limit_exceeded` when there were too many tries; counts nothing. */
  async check(key: string): Promise<void> {
    const { tries, waitMs } = await this.#tries.look(key)
    this.#refuseBeyond(tries, waitMs)
  }

  #refuseBeyond(tries: number, waitMs: number): void {
    const { most, message } = this.#limit
    if (tries < most) return
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
  }
}
