/**
 * Reads captured messages for people: once for all who ask for the same at the same time, and one after the other, so that
 * whatever is asked for, one message is in memory.
 */
import { readWholeContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { Trace } from '../trace/trace.ts'
import type { MessageReader, ReadResult } from './message-reader.ts'

export class Readings {
  readonly #database: Database
  readonly #reader: MessageReader
  readonly #underWay = new Map<string, Promise<unknown>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: Database, reader: MessageReader) {
    this.#database = database
    this.#reader = reader
  }

  /** The message of a trace as a reader would show it. */
  read(organizationId: string, trace: Trace): Promise<ReadResult> {
    return this.#once(trace.id, () => this.#inTurn(organizationId, trace, (raw) => this.#reader.read(raw)))
  }

  /** The decoded bytes of one attachment; undefined when there is none at that place. */
  attachment(organizationId: string, trace: Trace, index: number): Promise<Uint8Array | undefined> {
    return this.#once(`${trace.id} ${index}`, () => this.#inTurn(organizationId, trace, (raw) => this.#reader.attachment(raw, index)))
  }

  /** Who expects a message soon: until the returned function is called, its reading begins without a delay. */
  expect(): () => void {
    return this.#reader.expect()
  }

  #once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#underWay.get(key) as Promise<T> | undefined
    if (known) return known
    const reading = work().finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, reading)
    return reading
  }

  #inTurn<T>(organizationId: string, { prefix, content }: Trace, work: (raw: Uint8Array) => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const body = await readWholeContent(this.#database, organizationId, content)
      return work(prefix === '' ? body : Buffer.concat([Buffer.from(prefix), body]))
    })
    const forget = (): void => {}
    this.#last = turn.then(forget, forget)
    return turn
  }
}
