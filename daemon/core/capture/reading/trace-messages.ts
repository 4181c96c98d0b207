/** Messages by their traces, relayed ones too: as a reader shows them, and their source, for as long as they are kept. */
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../refusals.ts'
import { patternsOf } from '../../trace/arrivals.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { captureOf, inboxes, isLetGo } from '../capture.ts'
import type { ReadResult } from './message-reader.ts'
import type { RawMessage, Readings } from './readings.ts'

export interface TraceMessagesOptions {
  readonly database: Database
  readonly readings: Readings
  readonly clock: Clock
}

/** A trace with what a reader would show of its message. */
export interface TraceMessage {
  readonly trace: Trace
  readonly read: ReadResult
}

export class TraceMessages {
  readonly #options: TraceMessagesOptions

  constructor(options: TraceMessagesOptions) {
    this.#options = options
  }

  /** Throws `not_found` alike for missing and foreign ids, and says why where the trace is there and its message is not. */
  async message(principal: Principal, traceId: string): Promise<TraceMessage> {
    const trace = await this.#kept(principal, traceId)
    return { trace, read: await this.#options.readings.read(principal.organizationId, trace) }
  }

  /** The message as it is sent, or would have been, piece by piece. Throws like `message`. */
  async raw(principal: Principal, traceId: string): Promise<RawMessage> {
    return this.#options.readings.raw(principal.organizationId, await this.#kept(principal, traceId))
  }

  /** The decoded bytes of one attachment, by its place in the message. Throws like `message`. */
  async attachment(principal: Principal, traceId: string, index: number): Promise<Uint8Array> {
    const trace = await this.#kept(principal, traceId)
    const bytes = await this.#options.readings.attachment(principal.organizationId, trace, index)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    return bytes
  }

  async #kept(principal: Principal, traceId: string): Promise<Trace> {
    const stored = await this.#options.database.get(traces, principal, traceId)
    if (!stored) throw new Refusal('not_found', 'No trace has this id.')
    const trace = stored.record
    if (trace.outcome === 'refused') throw gone('The request was refused, so no message was kept.')
    if (await this.#isLetGo(principal, trace)) throw gone('The message has expired from every inbox that contained it.')
    return trace
  }

  /** Inboxes that keep mail for a shorter time than the plan does so for every reader, although the sweep comes later. */
  async #isLetGo({ organizationId }: Principal, trace: Trace): Promise<boolean> {
    const capture = captureOf(trace)
    if (!capture) return false
    const { database, clock } = this.#options
    const all = await database.all(inboxes, { organizationId })
    const its = all.map(({ record }) => record).filter(({ projectId }) => projectId === trace.projectId)
    return isLetGo(its, patternsOf(capture), capture.capturedAt, clock.now())
  }
}

const gone = (why: string): Refusal => new Refusal('not_found', why, { nextAction: 'read_trace' })
