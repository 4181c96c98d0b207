/** Rate limit in a sliding window, by key of the actor. */
import { Refusal } from '../refusals.ts'
import { Tries, type TryOptions } from './tries.ts'

export interface RateLimit {
  /** Name of the limit; unique, and the same at all daemons. */
  readonly name: string
  readonly windowMs: number
  readonly most: number
  /** Error message for callers that exceed the limit. */
  readonly message: string
}

export class RateWindow {
  readonly #limit: RateLimit
  readonly #tries: Tries

  constructor(options: TryOptions, limit: RateLimit) {
    this.#limit = limit
    this.#tries = new Tries(options, limit.name, limit)
  }

  /** Counts an attempt. Throws `rate_limit_exceeded`; a refused attempt is not counted. */
  async take(key: string): Promise<void> {
    const { tries, waitMs } = await this.#tries.add(key)
    this.#refuseBeyond(tries, waitMs)
  }

  /** Throws `rate_limit_exceeded` if the limit is reached; counts nothing. */
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
