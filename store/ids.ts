/** Identifiers: typed prefix and UUIDv7 for records (sorted by creation), bare UUIDv4 for traces, which are public. */
import { randomBytes, randomUUID } from 'node:crypto'

/** Number of milliseconds whose sequences are kept. */
const maxSequences = 100

/** Creates the record ids of one store. */
export class RecordIds {
  readonly #sequences = new Map<number, number>()
  #pool = Buffer.alloc(0)
  #used = 0

  /** Creates an id such as `dst_01935c…`: the prefix, then a UUIDv7 (RFC 9562 §5.7) of the time without hyphens. */
  next(prefix: string, nowMs: number): string {
    const time = nowMs.toString(16).padStart(12, '0')
    const bits = this.#random(10)
    bits.writeUInt16BE(0x7000 | this.#nextInMillisecond(nowMs), 0)
    bits[2] = ((bits[2] ?? 0) & 0x3f) | 0x80
    return `${prefix}_${time}${bits.toString('hex')}`
  }

  /**
   * Returns 12 bits that grow within a millisecond, so that ids sort in their order of creation (RFC 9562 §6.2). They also grow when a
   * clock that was set back repeats the millisecond.
   */
  #nextInMillisecond(nowMs: number): number {
    const latest = this.#sequences.get(nowMs)
    const next = latest === undefined ? (this.#random(1)[0] ?? 0) : Math.min(latest + 1, 0xfff)
    this.#sequences.set(nowMs, next)
    if (latest !== undefined) return next
    const [oldest] = this.#sequences.keys()
    if (this.#sequences.size > maxSequences && oldest !== undefined) this.#sequences.delete(oldest)
    return next
  }

  /** Returns random bytes that the caller may change: each is returned only once. */
  #random(bytes: number): Buffer {
    if (this.#used + bytes > this.#pool.length) {
      this.#pool = randomBytes(4096)
      this.#used = 0
    }
    this.#used += bytes
    return this.#pool.subarray(this.#used - bytes, this.#used)
  }
}

/** Creates ids of one prefix that sort in their order of creation, even if the clock goes back. */
export class OrderedIds {
  readonly #ids: RecordIds
  readonly #prefix: string
  #latest = ''
  #latestMs = 0

  constructor(ids: RecordIds, prefix: string) {
    this.#ids = ids
    this.#prefix = prefix
  }

  /** Uses `nowMs`, or a later time if the order requires it. */
  next(nowMs: number): string {
    this.#latestMs = Math.max(this.#latestMs, nowMs)
    const id = this.#ids.next(this.#prefix, this.#latestMs)
    this.#latest = id > this.#latest ? id : this.#ids.next(this.#prefix, ++this.#latestMs)
    return this.#latest
  }

  /** Makes all later ids sort after this id. */
  pass(id: string): void {
    if (id <= this.#latest) return
    this.#latest = id
    this.#latestMs = Math.max(this.#latestMs, Number.parseInt(id.slice(this.#prefix.length + 1, this.#prefix.length + 13), 16))
  }
}

/** A new public trace id: UUIDv4 (RFC 9562 §5.4). */
export const newTraceId = (): string => randomUUID()
