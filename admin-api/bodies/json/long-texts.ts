/**
 * Moves long texts of a parsed body between threads as octets, without a copy. The first read turns the octets into a string outside the
 * V8 heap. A cloned string would be on the heap, where only a full garbage collection frees it, and this stops the main thread. A caller
 * that needs no string takes the octets.
 */

/** Node keeps a string of this length or more outside the heap if it is decoded from octets. */
const longFrom = 1_048_576

/** A text that was removed from a value. */
export interface LongText {
  /** Names and indexes that lead from the value to the text. */
  readonly path: readonly (string | number)[]
  readonly octets: Uint8Array<ArrayBuffer>
  /** The text has characters above U+00FF: each UTF-16 unit takes two octets instead of one. */
  readonly isWide: boolean
}

type Holder = Record<string | number, unknown>

/** Reads a long text. */
interface Reader {
  (): string
  /** Returns the octets (ISO 8859-1); absent for wide texts. The caller owns them: `freeLongTexts` does not free them. */
  readonly take?: (() => Uint8Array) | undefined
}

/** Replaces the long texts of a parsed value by empty strings, and returns the long texts. */
export function takeLongTexts(value: object): readonly LongText[] {
  const found: LongText[] = []
  const look = (holder: Holder, path: LongText['path']): void => {
    for (const [key, inner] of Object.entries(holder)) {
      if (typeof inner === 'object' && inner !== null) look(inner as Holder, [...path, key])
      else if (typeof inner === 'string' && inner.length >= longFrom) {
        found.push({ path: [...path, key], ...octetsOf(inner) })
        place(holder, key, { value: '', writable: true })
      }
    }
  }
  look(value as Holder, [])
  return found
}

/** Restores the long texts. A first read after `freeLongTexts` throws a TypeError. */
export function putLongTexts(value: object, texts: readonly LongText[]): void {
  for (const { path, octets, isWide } of texts) {
    const holder = path.slice(0, -1).reduce((inner, key) => inner[key] as Holder, value as Holder)
    const key = path.at(-1) ?? ''
    let taken: Uint8Array | undefined
    const read = (): string => {
      if (taken) return Buffer.from(taken).toString('latin1')
      const text = Buffer.from(octets.buffer).toString(isWide ? 'utf16le' : 'latin1')
      octets.buffer.transfer(0)
      place(holder, key, { value: text, writable: true })
      return text
    }
    const take = isWide ? undefined : () => (taken ??= new Uint8Array(octets.buffer.transfer()))
    place(holder, key, { get: Object.assign(read, { take }) satisfies Reader })
  }
}

/**
 * Returns an object with the octets (ISO 8859-1) of a field in place of its text, which avoids a long string. Returns the
 * value itself if it is not an object, or if the field is short, was read before, or has characters above U+00FF.
 */
export function withOctets(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  const fields: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(value)
  const take = (fields[name]?.get as Reader | undefined)?.take
  if (!take) return value
  return Object.defineProperties({}, { ...fields, [name]: { value: take(), enumerable: true, configurable: true, writable: true } })
}

/** Frees the memory of the texts that were neither read nor taken. */
export function freeLongTexts(texts: readonly LongText[]): void {
  for (const { octets } of texts) if (!octets.buffer.detached) octets.buffer.transfer(0)
}

/** Defines an own property, also one with the name `__proto__`. */
function place(holder: Holder, key: string | number, descriptor: PropertyDescriptor): void {
  Object.defineProperty(holder, key, { ...descriptor, enumerable: true, configurable: true })
}

const wide = /[^\0-\xff]/

function octetsOf(text: string): Pick<LongText, 'octets' | 'isWide'> {
  const isWide = wide.test(text)
  const octets: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(text.length * (isWide ? 2 : 1))
  octets.write(text, isWide ? 'utf16le' : 'latin1')
  return { octets, isWide }
}
