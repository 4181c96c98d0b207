/**
 * Reads stored messages for people: once for all who ask for the same, also later as long as there is room for what was read, and
 * organizations in turn; a message is in memory only while it is read.
 */
import { readContent, readWholeContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { Clock } from '../../clock.ts'
import { resumeWork } from '../../fairness/thread-meter.ts'
import type { Trace } from '../../trace/trace.ts'
import { ReadingCache } from './reading-cache.ts'
import type { MessageReader, ReadResult, WaitingMessage } from './message-reader.ts'

/** `size`: in octets. */
export interface RawMessage {
  readonly size: number
  readonly pieces: AsyncIterable<Uint8Array>
}

export class Readings {
  readonly #database: Database
  readonly #reader: MessageReader
  readonly #kept: ReadingCache
  readonly #inFlight = new Map<string, Promise<unknown>>()

  constructor(database: Database, reader: MessageReader, clock: Clock) {
    this.#database = database
    this.#reader = reader
    this.#kept = new ReadingCache(clock)
  }

  /** The message of a trace as a reader would show it. */
  async read(organizationId: string, trace: Trace): Promise<ReadResult> {
    const kept = this.#kept.get(organizationId, trace.id)
    if (kept) return kept
    return this.#once(trace.id, async () => {
      const result = await this.#reader.read(this.#waiting(organizationId, trace))
      return this.#kept.keep(organizationId, trace.id, result)
    })
  }

  /** The decoded bytes of one attachment; undefined when there is none at that place. */
  attachment(organizationId: string, trace: Trace, index: number): Promise<Uint8Array | undefined> {
    return this.#once(`${trace.id} ${index}`, () => this.#reader.attachment(this.#waiting(organizationId, trace), index))
  }

  /** The message as it is sent, or would have been, piece by piece. */
  raw(organizationId: string, { prefix, content }: Trace): RawMessage {
    const first = Buffer.from(prefix)
    const pieces = readContent(this.#database, organizationId, content)
    return { size: first.length + content.size, pieces: first.length === 0 ? pieces : after(first, pieces) }
  }

  /** Who expects a message soon: until the returned function is called, its reading begins without a delay. */
  expect(): () => void {
    return this.#reader.expect()
  }

  #once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#inFlight.get(key) as Promise<T> | undefined
    if (known) return known
    const reading = work().finally(() => {
      resumeWork()
      this.#inFlight.delete(key)
    })
    this.#inFlight.set(key, reading)
    return reading
  }

  #waiting(organizationId: string, { prefix, content }: Trace): WaitingMessage {
    return { organizationId, size: content.size, read: () => readWholeContent(this.#database, organizationId, content, prefix) }
  }
}

/** The rest is begun first: a content that cannot be read fails before anything is answered. */
async function* after(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true
  for await (const piece of rest) {
    if (isFirst) yield first
    isFirst = false
    yield piece
  }
  if (isFirst) yield first
}
