/**
 * Parses stored messages for people: concurrent requests for the same message share one reading, results are cached, and organizations take
 * turns. A message is in memory only while it is parsed.
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

  /** Returns the parsed message of a trace. */
  async read(organizationId: string, trace: Trace): Promise<ReadResult> {
    const kept = this.#kept.get(organizationId, trace.id)
    if (kept) return kept
    return this.#once(trace.id, async () => {
      const result = await this.#reader.read(this.#waiting(organizationId, trace))
      return this.#kept.keep(organizationId, trace.id, result)
    })
  }

  /** Returns the decoded bytes of one attachment; undefined for an invalid index. */
  attachment(organizationId: string, trace: Trace, index: number): Promise<Uint8Array | undefined> {
    return this.#once(`${trace.id} ${index}`, () => this.#reader.attachment(this.#waiting(organizationId, trace), index))
  }

  /** Returns the message as sent, in pieces. */
  raw(organizationId: string, { prefix, content }: Trace): RawMessage {
    const first = Buffer.from(prefix)
    const pieces = readContent(this.#database, organizationId, content)
    return { size: first.length + content.size, pieces: first.length === 0 ? pieces : after(first, pieces) }
  }

  /** Keeps the reader ready for an expected message until the returned function is called. */
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

/** Starts reading the rest first, so that unreadable content fails before the first piece is sent. */
async function* after(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true
  for await (const piece of rest) {
    if (isFirst) yield first
    isFirst = false
    yield piece
  }
  if (isFirst) yield first
}
