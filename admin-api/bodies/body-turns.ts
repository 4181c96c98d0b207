/** Memory of request bodies: bounded for all together, and shared between callers. */
import { Refusal } from '#core/refusals.ts'

const tooMany = (): Refusal =>
  new Refusal('overloaded', 'Too many large requests at once; try again in a few seconds.', { retryAfterSeconds: 5 })

/** Bytes of all bodies now in memory, under one limit for the whole server. */
export class BodyMemory {
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Counts bytes in; throws `overloaded` when all bodies together take too much. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw tooMany()
    this.#bytes += bytes
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}

interface TurnRule {
  /** Whether a body may begin beside those of its caller and those of all that have begun. */
  readonly fits: (bytes: number, ofCaller: number, ofAll: number) => boolean
  /** While the body whose turn it is does not fit, no other begins. */
  readonly isStrict: boolean
}

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
}

/** Each waiting request holds up to 64 KiB, which came with its header. */
const mostWaiting = 512
const mostWaitingOfCaller = 128

/** Turns of large bodies. Callers take turns, and those of one caller begin in the order in which they came. */
export class BodyTurns {
  readonly #rule: TurnRule
  /** Bytes that have begun, by caller. */
  readonly #begun = new Map<string, number>()
  readonly #waiting = new Map<string, Waiting[]>()
  #bytes = 0
  #waits = 0

  private constructor(rule: TurnRule) {
    this.#rule = rule
  }

  /**
   * Turns for reading bodies into memory. A caller may hold as many bytes as are free: half of `maxBytes` if it is alone, a share of n + 1
   * if n callers hold some. This leaves room for another caller, and a slow sender delays only its own bodies. A single body may be larger.
   */
  static toRead(maxBytes: number): BodyTurns {
    const fits = (bytes: number, ofCaller: number, ofAll: number) => ofAll === 0 || ofCaller + bytes <= maxBytes - ofAll - bytes
    return new BodyTurns({ fits, isStrict: false })
  }

  /**
   * Turns for working on bodies. Until its request ends, a body takes about ten times its length: text, parsed value, composed message and
   * pending writes. `maxBytes` bounds all bodies in work; a single body may be larger.
   */
  static toWork(maxBytes: number): BodyTurns {
    return new BodyTurns({ fits: (bytes, _ofCaller, ofAll) => ofAll === 0 || ofAll + bytes <= maxBytes, isStrict: true })
  }

  /** Resolves when the body may begin. Call the returned function when its request ends. Throws `overloaded` while too many wait. */
  async begin(bytes: number, caller: string): Promise<() => void> {
    const queue = this.#waiting.get(caller) ?? []
    if (this.#waits >= mostWaiting || queue.length >= mostWaitingOfCaller) throw tooMany()
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.push({ bytes, begin: resolve })
    this.#waits++
    this.#waiting.set(caller, queue)
    this.#next()
    await promise
    return () => {
      this.#count(caller, -bytes)
      this.#next()
    }
  }

  #next(): void {
    for (const [caller, queue] of this.#waiting) {
      const [first] = queue
      if (!first) continue
      if (!this.#rule.fits(first.bytes, this.#begun.get(caller) ?? 0, this.#bytes)) {
        if (this.#rule.isStrict) return
        continue
      }
      queue.shift()
      this.#waits--
      this.#waiting.delete(caller)
      if (queue.length > 0) this.#waiting.set(caller, queue) // behind the others
      this.#count(caller, first.bytes)
      first.begin()
    }
  }

  #count(caller: string, bytes: number): void {
    this.#bytes += bytes
    const begun = (this.#begun.get(caller) ?? 0) + bytes
    if (begun > 0) this.#begun.set(caller, begun)
    else this.#begun.delete(caller)
  }
}
