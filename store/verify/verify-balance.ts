/** Finds out without look-ups whether two walks in different orders meet the same rows. Each walk adds up checksums of its rows. */
import { crc32 } from 'node:zlib'
import type { Bytes } from '../kv.ts'

/** Modulus for exact sums: a sum of two values below 2^52 is exact. */
const modulus = 2 ** 52

/** `even` is true if the expected rows equal the rows that were met. A single difference is missed once in four billion cases. */
export class Balance {
  #count = 0
  #sum = 0

  expect(key: Bytes, value: Bytes): void {
    this.#count++
    this.#sum = (this.#sum + crc32(value, crc32(key))) % modulus
  }

  meet(key: Bytes, value: Bytes): void {
    this.#count--
    this.#sum = (this.#sum - crc32(value, crc32(key)) + modulus) % modulus
  }

  get even(): boolean {
    return this.#count === 0 && this.#sum === 0
  }
}
