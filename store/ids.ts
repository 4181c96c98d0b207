/** Identifiers: typed prefix and UUIDv7 for records (sorted by creation), bare UUIDv4 for traces, which are public. */
import { randomBytes, randomUUID } from 'node:crypto'

let pool = Buffer.alloc(0)
let used = 0

/** Given out once, and the caller's from then on. */
function random(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}

/** A new id such as `dst_01935c…`: the prefix, then a UUIDv7 (RFC 9562 §5.7) of the given time in hexadecimal without hyphens. */
export function newId(prefix: string, nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const bits = random(10)
  bits.writeUInt16BE(0x7000 | nextInMillisecond(nowMs), 0)
  bits[2] = ((bits[2] ?? 0) & 0x3f) | 0x80
  return `${prefix}_${time}${bits.toString('hex')}`
}

/**
 * Twelve bits that grow inside a millisecond, so that ids of one process sort in the order in which they were made (RFC 9562 §6.2),
 * also when a clock that was set back comes by a millisecond again.
 */
function nextInMillisecond(nowMs: number): number {
  const latest = sequences.get(nowMs)
  const next = latest === undefined ? (random(1)[0] ?? 0) : Math.min(latest + 1, 0xfff)
  sequences.set(nowMs, next)
  if (latest !== undefined) return next
  const [oldest] = sequences.keys()
  if (sequences.size > maxSequences && oldest !== undefined) sequences.delete(oldest)
  return next
}
const sequences = new Map<number, number>()
const maxSequences = 100

/** Ids of one prefix that sort in the order in which this made them, also when the clock goes back. */
export class OrderedIds {
  readonly #prefix: string
  #latest = ''
  #latestMs = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Its time is `nowMs`, or later where that is needed for the order. */
  next(nowMs: number): string {
    this.#latestMs = Math.max(this.#latestMs, nowMs)
    const id = newId(this.#prefix, this.#latestMs)
    this.#latest = id > this.#latest ? id : newId(this.#prefix, ++this.#latestMs)
    return this.#latest
  }

  /** Every later one sorts behind this one too. */
  pass(id: string): void {
    if (id <= this.#latest) return
    this.#latest = id
    this.#latestMs = Math.max(this.#latestMs, Number.parseInt(id.slice(this.#prefix.length + 1, this.#prefix.length + 13), 16))
  }
}

/** A new public trace id: UUIDv4 (RFC 9562 §5.4). */
export const newTraceId = (): string => randomUUID()
