/**
 * Randomness that can be repeated: every choice of a test follows from one number, which is printed when the test fails.
 */

/** Returns `POSTERN_TEST_SEED`, or else the usual seed of the test. A failed test names its seed. */
export const seedOf = (usual: number): number => Number(process.env['POSTERN_TEST_SEED'] ?? usual)

/** A stream of choices that depends on nothing but its seed. */
export class Seeded {
  #state: number

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? seed >>> 0 : hash(seed)
  }

  /** A number in [0, 1), by a counter that is mixed until no bit follows the one before. */
  fraction(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from `least` to `most`, both possible. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1))
  }

  /** True in about `share` of the calls. */
  chance(share: number): boolean {
    return this.fraction() < share
  }

  /** One entry of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T
  }

  /** The entries of a list in a random order. */
  shuffle<T>(list: readonly T[]): readonly T[] {
    return list
      .map((entry) => ({ entry, at: this.fraction() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ entry }) => entry)
  }

  /** Octets that do not compress. */
  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.between(0, 255)))
  }

  /** A stream of its own, so that one client's choices do not move those of another. */
  branch(name: string): Seeded {
    return new Seeded(`${String(this.#state)}/${name}`)
  }
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}
