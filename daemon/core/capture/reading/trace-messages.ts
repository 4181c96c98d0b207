/** Messages by trace, including relayed messages: parsed and as source, while they are stored. */
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

/** A trace with its parsed message. */
export interface TraceMessage {
  readonly trace: Trace
  readonly read: ReadResult
}

export class TraceMessages {
  readonly #options: TraceMessagesOptions

  constructor(options: TraceMessagesOptions) {
    this.#options = options
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. If only the message is gone, the error states the reason. */
  async message(principal: Principal, traceId: string): Promise<TraceMessage> {
    const trace = await this.#kept(principal, traceId)
    return { trace, read: await this.#options.readings.read(principal.organizationId, trace) }
  }

  /** Returns the message as sent, in pieces. Throws like `message`. */
  async raw(principal: Principal, traceId: string): Promise<RawMessage> {
    return this.#options.readings.raw(principal.organizationId, await this.#kept(principal, traceId))
  }

  /** Returns the decoded bytes of one attachment, by its position in the message. Throws like `message`. */
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
    if (trace.outcome === 'refused') throw gone('The request was refused, so no message was stored.')
    if (await this.#isLetGo(principal, trace)) throw gone('The message has expired from every inbox that contained it.')
    return trace
  }

  /** Applies the shorter retention of inboxes immediately, before the next sweep deletes the message. */
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
