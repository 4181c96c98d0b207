/**
 * Reads a format sequentially from chunks. A format is a generator that yields the octets it needs and resumes when they are available.
 * Skipped octets are not buffered.
 */

/** A request of a format: `take` reads up to 64 KiB, `skip` skips octets, `marker` skips to the next marker in a JPEG scan. */
export type Want = { readonly take: number } | { readonly skip: number } | 'marker'

/** Receives the octets, the marker code as one octet, or nothing. Returns at the end of the format; throws `Broken`. */
export type Format = Generator<Want, void, Buffer>

/** The octets do not conform to the format. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

const nothing = Buffer.alloc(0)

/** Passes chunks to a format. */
export class ByteReader {
  readonly #format: Format
  #want: Want | undefined
  #kept: Buffer = nothing
  #left = 0
  /** The previous octet in a scan was 0xff. */
  #isMarked = false
  /** Number of octets after the end of the format. */
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
      this.#kept = Buffer.from(this.#kept) // copies, because the caller reuses the chunk
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

  /** Finds the next marker. Stuffed octets and restart markers are part of the scan; 0xff may be repeated before a marker. */
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
