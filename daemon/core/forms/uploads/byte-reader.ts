/**
 * Lets a format be read in one go although its octets come in pieces: a reader is a generator that yields what it wants next, and goes on
 * when that is there. What is passed over is not kept.
 */

/** So many octets, at most 64 KiB; or passes over so many; or goes on behind the next marker in the scan of a JPEG. */
export type Want = { readonly take: number } | { readonly skip: number } | 'marker'

/** Gets the octets it took, the code of the marker as one octet, or nothing. Returns when the format is at its end; throws `Broken`. */
export type Format = Generator<Want, void, Buffer>

/** The octets are not what the format wants. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

const nothing = Buffer.alloc(0)

/** Feeds a reader. */
export class ByteReader {
  readonly #format: Format
  #want: Want | undefined
  #kept: Buffer = nothing
  #left = 0
  /** The octet before was 0xff, in a scan. */
  #isMarked = false
  /** Octets behind the end of the format. */
  trailing = 0

  constructor(format: Format) {
    this.#format = format
    this.#goOn(undefined)
  }

  get isEnded(): boolean {
    return this.#want === undefined
  }

  /** Throws `Broken`. */
  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#want === undefined) {
        this.trailing += chunk.length - at
        return
      }
      at =
        this.#want === 'marker'
          ? this.#scan(chunk, at)
          : 'skip' in this.#want
            ? this.#skip(chunk, at)
            : this.#take(chunk, at, this.#want.take)
    }
  }

  #goOn(octets: Buffer | undefined): void {
    for (let octet = octets; ; octet = nothing) {
      const { done = false, value } = octet === undefined ? this.#format.next() : this.#format.next(octet)
      this.#want = done ? undefined : (value as Want)
      if (this.#want === undefined || this.#want === 'marker') return
      this.#left = 'skip' in this.#want ? this.#want.skip : this.#want.take
      if (this.#left > 0) return
    }
  }

  #take(chunk: Buffer, at: number, wanted: number): number {
    const end = Math.min(chunk.length, at + wanted - this.#kept.length)
    const piece = chunk.subarray(at, end)
    this.#kept = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece])
    if (this.#kept.length < wanted) {
      this.#kept = Buffer.from(this.#kept) // the chunk belongs to someone else
      return end
    }
    const octets = this.#kept
    this.#kept = nothing
    this.#goOn(octets)
    return end
  }

  #skip(chunk: Buffer, at: number): number {
    const passed = Math.min(this.#left, chunk.length - at)
    this.#left -= passed
    if (this.#left === 0) this.#goOn(nothing)
    return at + passed
  }

  /** Stuffed octets and restarts belong to the scan, and 0xff may be repeated before a marker. */
  #scan(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (!this.#isMarked) {
        at = chunk.indexOf(0xff, at)
        if (at < 0) return chunk.length
        this.#isMarked = true
        continue
      }
      const code = chunk[at] ?? 0
      if (code === 0xff) continue
      this.#isMarked = false
      if (code === 0 || (code >= 0xd0 && code <= 0xd7)) continue
      this.#goOn(chunk.subarray(at, at + 1))
      return at + 1
    }
    return chunk.length
  }
}
