/** Memory of request bodies: limited in total, and shared fairly between callers. */
import { Refusal } from '#core/refusals.ts'

const tooMany = (): Refusal =>
  new Refusal('overloaded', 'Too many large requests at once; try again in a few seconds.', { retryAfterSeconds: 5 })

/** Counts the bytes of all bodies in memory, with one limit for the whole server. */
export class BodyMemory {
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds bytes. Throws `overloaded` if the total exceeds the limit. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw tooMany()
    this.#bytes += bytes
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}

interface TurnRule {
  /** Whether a body may begin in addition to the begun bodies of its caller and of all callers. */
  readonly fits: (bytes: number, ofCaller: number, ofAll: number) => boolean
  /** If the next body does not fit, no other body begins. */
  readonly isStrict: boolean
}

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
}

/** Each waiting request holds up to 64 KiB, received with its header. */
const mostWaiting = 512
const mostWaitingOfCaller = 128

/** Turns of large bodies. Callers alternate; bodies of one caller begin in their order of arrival. */
export class BodyTurns {
  readonly #rule: TurnRule
  /** Bytes of begun bodies, by caller. */
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

  /** Resolves when the body may begin. Call the returned function when its request ends. Throws `overloaded` if too many bodies wait. */
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
      if (queue.length > 0) this.#waiting.set(caller, queue) // moves the caller to the end
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
