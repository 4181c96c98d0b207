/**
 * Turns of large bodies. Until its request is over, a body takes some ten times its length: its text, its value, the message that is made
 * of it, and what waits for the disk. So those in work together are bounded, and the others wait in the order in which they came.
 */

/** Shorter ones do not wait. */
const largeBytes = 262_144

export class BodyTurns {
  readonly #maxBytes: number
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = []
  #busyBytes = 0

  /** `maxBytes`: of all bodies in work; one alone may have more. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Resolves when the body may be worked on. Each is followed by one `end` with the same number. */
  begin(bytes: number): void | Promise<void> {
    if (bytes < largeBytes) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ bytes, begin: resolve })
    this.#next()
    return promise
  }

  end(bytes: number): void {
    if (bytes < largeBytes) return
    this.#busyBytes -= bytes
    this.#next()
  }

  #next(): void {
    for (;;) {
      const [first] = this.#waiting
      if (!first || (this.#busyBytes > 0 && this.#busyBytes + first.bytes > this.#maxBytes)) return
      this.#waiting.shift()
      this.#busyBytes += first.bytes
      first.begin()
    }
  }
}
