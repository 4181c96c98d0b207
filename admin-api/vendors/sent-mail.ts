/** Access of dialects to sent mail: look up a message with its events, and cancel or reschedule it. */
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { ReadAddress, ReadMessage } from '#core/capture/reading/message-reader.ts'
import { Refusal } from '#core/refusals.ts'
import type { BulkReport } from '#core/submission/doors/bulk-reports.ts'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import type { Trace } from '#core/trace/trace.ts'
import { check } from '../bodies/validation.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { decoder } from '../wire/fields/codec.ts'
import { sendTime } from '../wire/sending/scheduled-send.ts'
import { traceId } from '../wire/sending/trace.ts'

export type SentMailCore = Pick<RestCore, 'traces' | 'traceMessages' | 'scheduledSends' | 'bulkReports'>

/** Limited to the reach of the principal; ids of others are not found. */
export class SentMail {
  readonly #core: SentMailCore
  readonly #principal: Principal

  constructor(core: SentMailCore, principal: Principal) {
    this.#core = core
    this.#principal = principal
  }

  /** Returns the message by the id in the send response, bare or as `<id@host>`. Throws `not_found`. */
  details(id: string): Promise<TraceDetails> {
    return found(() => this.#core.traces.get(this.#principal, ownId(id)))
  }

  /** Returns the parsed message; undefined if its content is no longer stored or cannot be parsed. */
  async message({ id }: Trace): Promise<ReadMessage | undefined> {
    try {
      const { read } = await this.#core.traceMessages.message(this.#principal, id)
      return read.ok ? read.message : undefined
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return undefined
      throw error
    }
  }

  /** Returns the source of the message; empty if it is not stored or larger than `maxSource`. */
  async source({ id, content }: Trace): Promise<string> {
    if (content.size > maxSource) return ''
    try {
      const { pieces } = await this.#core.traceMessages.raw(this.#principal, id)
      return Buffer.concat(await Array.fromAsync(pieces)).toString('utf8')
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return ''
      throw error
    }
  }

  /** Returns the report of a bulk request by the id of its first message. Throws `not_found`. */
  bulk(id: string): Promise<BulkReport> {
    return this.#core.bulkReports.get(this.#principal, ownId(id))
  }

  /** Cancels a scheduled message. Throws `not_found`, and `conflict` if it is too late. */
  cancel(id: string): Promise<Trace> {
    return found(() => this.#core.scheduledSends.cancel(this.#principal, ownId(id)))
  }

  /**
   * Changes the send time; `sendAt` has the form of `send_at`. Throws `validation_failed`, `not_found`, `feature_disabled`, and `conflict`
   * if it is too late.
   */
  reschedule(id: string, sendAt: string | undefined): Promise<Trace> {
    const { sendAt: at } = decodeTime(check(newTime, { send_at: sendAt }, 'body'))
    return found(() => this.#core.scheduledSends.reschedule(this.#principal, ownId(id), at))
  }
}

/** Returns the id that the sending client received. */
export const answeredId = ({ id, dialect }: Trace): string => dialect?.answeredId ?? id

/** Writes an address with its name, with quotes if needed. */
export function mailboxText({ address, name }: ReadAddress): string {
  if (name === '') return address
  return /[^\p{L}\p{N} '_-]/u.test(name) ? `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>` : `${name} <${address}>`
}

/** In octets. */
const maxSource = 1_048_576

const newTime = z.strictObject({ send_at: sendTime })
const decodeTime = decoder(newTime)

/** Parses an id. Throws `not_found` for any other text. */
function ownId(given: string): string {
  const [, wrapped = given] = /^<?([^<>@]*)(?:@[^<>@]*)?>?$/.exec(given) ?? []
  const read = traceId.safeParse(wrapped)
  if (!read.success) throw noMessage()
  return read.data
}

async function found<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') throw noMessage()
    throw error
  }
}

const noMessage = (): Refusal => new Refusal('not_found', 'No message has this id.')
