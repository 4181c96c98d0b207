/** Finds out without a look-up whether two walks in different orders meet the same rows: both add up what they meet. */
import { crc32 } from 'node:zlib'
import type { Bytes } from '../kv.ts'

/** A sum in which no bit is lost: CRC-32 values add up below 2^52. */
const modulus = 2 ** 52

/** Even when what was expected is what was met; a single difference goes unnoticed once in four billion times. */
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
