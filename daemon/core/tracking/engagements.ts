/** Takes openings and clicks from whoever has the message, and writes them down beside the trace, as well as it can at that moment. */
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import { engagements, joinSeen, nothingSeen, type Seen } from '../trace/story/engagement.ts'
import { traceOfToken } from '../trace/trace-token.ts'
import { traces } from '../trace/trace.ts'
import { readClickToken } from './click-token.ts'
import { transact } from '../writes/transact.ts'
import { openPurpose } from './message-tracking.ts'

export interface EngagementsOptions extends Core {
  /** Throws while nothing may be stored; then nothing is recorded. */
  readonly admission: { check(work: 'storing'): void }
  /** Something was not recorded. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** Traces that are waited for at one time; what comes beyond is not recorded. */
const maxWaiting = 1000

export class Engagements {
  readonly #options: EngagementsOptions
  /** What was seen while an earlier write for the same trace is under way: a flood becomes one write after the other. */
  readonly #waiting = new Map<string, Seen>()
  readonly #writing = new Map<string, Promise<void>>()

  constructor(options: EngagementsOptions) {
    this.#options = options
  }

  /** An image was asked for, which `counts` unless only its header was. False for a token that is not ours; the trace may be gone. */
  open(token: string, counts: boolean): boolean {
    const traceId = traceOfToken(this.#options.secrets, openPurpose, token)
    if (traceId !== undefined && counts) this.#note(traceId, { ...nothingSeen, opens: 1, firstOpens: [this.#options.clock.now()] })
    return traceId !== undefined
  }

  /**
   * A link was followed, which `counts` unless only a header was asked for. Returns where it leads, also when the trace is gone or
   * nothing can be recorded; undefined for a token that is not ours.
   */
  click(token: string, counts: boolean): string | undefined {
    const click = readClickToken(this.#options.secrets, token)
    if (!click) return undefined
    const { traceId, link, target } = click
    if (counts) this.#note(traceId, { ...nothingSeen, clicks: 1, firstClicks: [{ at: this.#options.clock.now(), link, url: target }] })
    return target
  }

  /** Resolves when what was seen so far is written down. */
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
      const trace = await change.get(traces, traceId) // checked, so that nothing outlives its trace
      if (!trace) return
      const stored = await change.get(engagements, traceId)
      const record = { id: traceId, projectId: trace.record.projectId, ...joinSeen(stored?.record ?? nothingSeen, seen) }
      if (stored) change.rewrite(engagements, organizationId, stored, record)
      else change.insert(engagements, organizationId, record)
    })
  }
}
