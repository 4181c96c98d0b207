/**
 * Long texts of a parsed body travel as octets, whose memory moves between threads without a copy, and become text when they are first
 * read. Such a text lies outside the heap: a clone of it would take a part of the heap that only a full collection frees, and the main
 * thread stands still meanwhile.
 */

/** Text from this length on lies outside the heap when it is made of octets (a rule of Node). */
const longFrom = 1_048_576

/** A text taken out of a value. */
export interface LongText {
  /** Names and indexes from the value to the text; none if the value is the text itself. */
  readonly path: readonly (string | number)[]
  readonly octets: Uint8Array<ArrayBuffer>
  /** It has characters beyond U+00FF: two octets for each UTF-16 unit, in place of one. */
  readonly isWide: boolean
}

type Holder = Record<string | number, unknown>

/** Takes the long texts out of a value that was parsed from JSON, and leaves empty ones in their place. */
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

/** Puts them back. To read a text first after `freeLongTexts` throws. */
export function putLongTexts(value: object, texts: readonly LongText[]): void {
  for (const { path, octets, isWide } of texts) {
    const holder = path.slice(0, -1).reduce((inner, key) => inner[key] as Holder, value as Holder)
    const key = path.at(-1) ?? ''
    place(holder, key, {
      get: () => {
        const text = Buffer.from(octets.buffer).toString(isWide ? 'utf16le' : 'latin1')
        octets.buffer.transfer(0)
        place(holder, key, { value: text, writable: true })
        return text
      },
    })
  }
}

/** Frees the memory of those that were never read, without waiting for a collection. */
export function freeLongTexts(texts: readonly LongText[]): void {
  for (const { octets } of texts) if (!octets.buffer.detached) octets.buffer.transfer(0)
}

/** An own property whatever its name: `__proto__` too. */
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
