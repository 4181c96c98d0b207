/** Limits the number of open streams for each caller and in total, with the same limits for every kind of stream. */
import type { Principal } from '../access/principal/principal.ts'
import { OpenCounts } from '../fairness/open-counts.ts'
import { Refusal } from '../refusals.ts'

const maxOfCaller = 10
const maxInAll = 1000
const retryAfterSeconds = 30

export class OpenStreams {
  readonly #open = new OpenCounts()
  readonly #what: string

  /** `what` names the streams in errors, such as `streams of changes`. */
  constructor(what: string) {
    this.#what = what
  }

  /** Counts a stream as open, and returns a function that counts it as closed. Throws `rate_limit_exceeded` if too many are open. */
  enter({ credentialId, holder }: Pick<Principal, 'credentialId' | 'holder'>): () => void {
    const caller = holder?.kind === 'user' ? holder.userId : credentialId
    const leave = this.#open.size < maxInAll ? this.#open.enter(caller, maxOfCaller) : undefined
    if (leave) return leave
    const message = `At most ${maxOfCaller} ${this.#what} can be open at a time; close one, or poll instead.`
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds, details: { max: maxOfCaller } })
  }
}
