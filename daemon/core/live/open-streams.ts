/** How many streams may be open: few for each caller, and in all. The same for every kind of stream. */
import type { Principal } from '../access/principal/principal.ts'
import { OpenCounts } from '../fairness/open-counts.ts'
import { Refusal } from '../refusals.ts'

const maxOfCaller = 10
const maxInAll = 1000
const retryAfterSeconds = 30

export class OpenStreams {
  readonly #open = new OpenCounts()
  readonly #what: string

  /** `what` names the streams, such as `streams of changes`. */
  constructor(what: string) {
    this.#what = what
  }

  /** Counts a stream in, and returns what counts it out. Throws `rate_limit_exceeded` when too many are open. */
  enter({ credentialId, holder }: Pick<Principal, 'credentialId' | 'holder'>): () => void {
    const caller = holder?.kind === 'user' ? holder.userId : credentialId
    const leave = this.#open.size < maxInAll ? this.#open.enter(caller, maxOfCaller) : undefined
    if (leave) return leave
    const message = `At most ${maxOfCaller} ${this.#what} may be open; close one, or ask now and then.`
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds, details: { max: maxOfCaller } })
  }
}
