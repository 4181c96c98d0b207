/** Records opens and clicks of messages next to their traces, on a best-effort basis. */
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import { engagements, joinSeen, nothingSeen, type Seen } from '../trace/timeline/engagement.ts'
import { traceOfToken } from '../trace/trace-token.ts'
import { traces } from '../trace/trace.ts'
import { readClickToken } from './click-token.ts'
import { transact } from '../writes/transact.ts'
import { openPurpose } from './message-tracking.ts'

export interface EngagementsOptions extends Core {
  /** Throws if nothing may be stored; events are then not recorded. */
  readonly admission: { check(work: 'storing'): void }
  /** Called after an event could not be recorded. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** Maximum number of traces with a write in progress; events of further traces are not recorded. */
const maxWaiting = 1000

export class Engagements {
  readonly #options: EngagementsOptions
  /** Events that arrive during a write of the same trace, so that many events become few writes. */
  readonly #waiting = new Map<string, Seen>()
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: EngagementsOptions) {
    this.#options = options
  }

  /**
   * Records a request for the image; `counts` is false for a HEAD request. Returns false for an invalid token; the trace may be removed.
   */
  open(token: string, counts: boolean): boolean {
    const traceId = traceOfToken(this.#options.secrets, openPurpose, token)
    if (traceId !== undefined && counts) this.#note(traceId, { ...nothingSeen, opens: 1, firstOpens: [this.#options.clock.now()] })
    return traceId !== undefined
  }

  /**
   * Records a click; `counts` is false for a HEAD request. Returns the target even if the trace is removed or nothing can be recorded.
   * Returns undefined for an invalid token.
   */
  click(token: string, counts: boolean): string | undefined {
    const click = readClickToken(this.#options.secrets, token)
    if (!click) return undefined
    const { traceId, link, target } = click
    if (counts) this.#note(traceId, { ...nothingSeen, clicks: 1, firstClicks: [{ at: this.#options.clock.now(), link, url: target }] })
    return target
  }

  /** Resolves when all events up to this call are recorded. */
  async settled(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values())
  }

  #note(traceId: string, seen: Seen): void {
    const before = this.#waiting.get(traceId)
    if (!before && (this.#writing.size >= maxWaiting || !this.#mayWrite())) return
    this.#waiting.set(traceId, joinSeen(before ?? nothingSeen, seen))
    if (!this.#writing.has(traceId)) this.#writing.set(traceId, this.#record(traceId))
  }

  #mayWrite(): boolean {
    try {
      this.#options.admission.check('storing')
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  async #record(traceId: string): Promise<void> {
    try {
      for (let seen = this.#take(traceId); seen; seen = this.#take(traceId)) await this.#write(traceId, seen)
    } catch (error) {
      this.#options.onError(error, traceId)
    } finally {
      this.#waiting.delete(traceId)
      this.#writing.delete(traceId)
    }
  }

  #take(traceId: string): Seen | undefined {
    const seen = this.#waiting.get(traceId)
    this.#waiting.delete(traceId)
    return seen
  }

  async #write(traceId: string, seen: Seen): Promise<void> {
    const { database } = this.#options
    const found = await database.lookup(traces, 'id', [traceId])
    if (!found) return
    const { organizationId } = found
    await transact(database, { organizationId }, async (change) => {
      const trace = await change.get(traces, traceId) // checked, so that no record outlives its trace
      if (!trace) return
      const stored = await change.get(engagements, traceId)
      const record = { id: traceId, projectId: trace.record.projectId, ...joinSeen(stored?.record ?? nothingSeen, seen) }
      if (stored) change.rewrite(engagements, organizationId, stored, record)
      else change.insert(engagements, organizationId, record)
    })
  }
}
