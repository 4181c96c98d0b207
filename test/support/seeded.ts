/** Repeatable randomness: every choice of a test follows from one seed, which is printed if the test fails. */

/** Returns `POSTERN_TEST_SEED`, or else the usual seed of the test. A failed test names its seed. */
export const seedOf = (usual: number): number => Number(process.env['POSTERN_TEST_SEED'] ?? usual)

/** A stream of choices that depends only on its seed. */
export class Seeded {
  #state: number

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? seed >>> 0 : hash(seed)
  }

  /** Returns a number in [0, 1) from a mixed counter. */
  fraction(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }

  /** Returns a whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  /** Returns true in about `share` of the calls. */
  chance(share: number): boolean {
    return this.fraction() < share
  }

  /** Returns an entry of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T
  }

  /** Returns the entries of a list in random order. */
  shuffle<T>(list: readonly T[]): readonly T[] {
    return list
      .map((entry) => ({ entry, at: this.fraction() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ entry }) => entry)
  }

  /** Returns incompressible octets. */
  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.between(0, 255)))
  }

  /** Returns a separate stream, so that choices of one client do not affect those of another. */
  branch(name: string): Seeded {
    return new Seeded(`${String(this.#state)}/${name}`)
  }
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
