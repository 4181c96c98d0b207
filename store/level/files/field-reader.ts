/** Reads the fields of LevelDB's blocks and records in order. Throws `RangeError` after the end. */

export class FieldReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  octet(): number {
    return this.octets(1)[0] as number
  }

  /** Reads a number of 1 to 6 octets, lowest octet first. */
  littleEndian(octets: number): number {
    return this.octets(octets).readUIntLE(0, octets)
  }

  /** Reads a number in base 128, lowest digit first. */
  number(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const octet = this.octet()
      value += (octet & 0x7f) * scale
      if (octet < 0x80) return value
    }
    throw new RangeError('A number is too long.')
  }

  octets(length: number): Buffer {
    if (length > this.left) throw new RangeError('The octets end too early.')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Reads octets that follow their length. */
  counted(): Buffer {
    return this.octets(this.number())
  }
}
