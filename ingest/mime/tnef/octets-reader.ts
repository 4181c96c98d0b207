/** Reads little-endian numbers and octets sequentially. Every length is checked before use. */

/** The input is shorter than an announced length. */
class Truncated extends Error {
  override readonly name = 'Truncated'
}

export class OctetsReader {
  readonly #octets: Buffer
  #at = 0

  constructor(octets: Buffer) {
    this.#octets = octets
  }

  get left(): number {
    return this.#octets.length - this.#at
  }

  /** Returns a view of the next octets. Throws `Truncated`. */
  take(count: number): Buffer {
    if (count > this.left) throw new Truncated(`${count} octets are announced, but only ${this.left} remain`)
    this.#at += count
    return this.#octets.subarray(this.#at - count, this.#at)
  }

  /** Returns octets that are padded to a multiple of four. The last padding may be missing. */
  takePadded(count: number): Buffer {
    const octets = this.take(count)
    this.#at = Math.min(this.#octets.length, this.#at + ((4 - (count % 4)) % 4))
    return octets
  }

  u8(): number {
    return this.take(1).readUInt8()
  }

  u16(): number {
    return this.take(2).readUInt16LE()
  }

  u32(): number {
    return this.take(4).readUInt32LE()
  }
}
