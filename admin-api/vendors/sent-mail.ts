/** Mail that was sent, as dialects look it up: one message with its fate, and what is done with one that waits. */
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { ReadAddress, ReadMessage } from '#core/capture/reading/message-reader.ts'
import { Refusal } from '#core/refusals.ts'
import type { BulkReport } from '#core/submission/doors/bulk-reports.ts'
import type { TraceStory } from '#core/trace/story/trace-reader.ts'
import type { Trace } from '#core/trace/trace.ts'
import { check } from '../bodies/validation.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { decoder } from '../wire/fields/codec.ts'
import { sendTime } from '../wire/sending/scheduled-send.ts'
import { traceId } from '../wire/sending/trace.ts'

export type SentMailCore = Pick<RestCore, 'traces' | 'traceMessages' | 'scheduledSends' | 'bulkReports'>

/** As far as the principal reaches: ids of others are those of nothing. */
export class SentMail {
  readonly #core: SentMailCore
  readonly #principal: Principal

  constructor(core: SentMailCore, principal: Principal) {
    this.#core = core
    this.#principal = principal
  }

  /** By the id that its sending was answered with, bare or as `<id@host>`. Throws `not_found`. */
  story(id: string): Promise<TraceStory> {
    return found(() => this.#core.traces.get(this.#principal, ownId(id)))
  }

  /** The message as a reader shows it; undefined when it is kept no more, or was never readable. */
  async message({ id }: Trace): Promise<ReadMessage | undefined> {
    try {
      const { read } = await this.#core.traceMessages.message(this.#principal, id)
      return read.ok ? read.message : undefined
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return undefined
      throw error
    }
  }

  /** Every octet of it, where it is kept and small enough for a field of an answer; otherwise nothing. */
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

  /** What came of a request of many messages, whose first has this id. Throws `not_found`. */
  bulk(id: string): Promise<BulkReport> {
    return this.#core.bulkReports.get(this.#principal, ownId(id))
  }

  /** Throws `not_found`, and `conflict` when it is too late. */
  cancel(id: string): Promise<Trace> {
    return found(() => this.#core.scheduledSends.cancel(this.#principal, ownId(id)))
  }

  /** `sendAt` as in `send_at`. Throws `validation_failed`, `not_found`, `feature_disabled`, and `conflict` when it is too late. */
  reschedule(id: string, sendAt: string | undefined): Promise<Trace> {
    const { sendAt: at } = decodeTime(check(newTime, { send_at: sendAt }, 'body'))
    return found(() => this.#core.scheduledSends.reschedule(this.#principal, ownId(id), at))
  }
}

/** The id that the sending client was given. */
export const answeredId = ({ id, dialect }: Trace): string => dialect?.answeredId ?? id

/** As people write an address with its name. */
export function mailboxText({ address, name }: ReadAddress): string {
  if (name === '') return address
  return /[^\p{L}\p{N} '_-]/u.test(name) ? `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>` : `${name} <${address}>`
}

/** Octets. */
const maxSource = 1_048_576

const newTime = z.strictObject({ send_at: sendTime })
const decodeTime = decoder(newTime)

/** What is none of our ids finds nothing. */
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

const noMessage = (): Refusal => new Refusal('not_found', 'No such message has this id.')
