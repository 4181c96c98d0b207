/**
 * Named counts in one value. A name identifies a kind of event, such as `r`. If the value has a bound, the first letter of a name
 * identifies the kind, and the rest is the subject, such as `kexample.org`.
 */
import type { Bytes } from './kv.ts'

export type Counts = Map<string, number>

/** For each count: octets of the name, the name in UTF-8, the count as a little-endian base-128 number. */
export function encodeCounts(counts: ReadonlyMap<string, number>): Bytes {
  let size = 0
  for (const name of counts.keys()) size += 9 + (name.length === 1 ? 2 : Buffer.byteLength(name))
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const [name, count] of counts) {
    const code = name.charCodeAt(0)
    if (name.length === 1 && code < 0x80) {
      bytes[at++] = 1
      bytes[at++] = code
    } else {
      const octets = bytes.write(name, at + 1)
      bytes[at] = octets
      at += 1 + octets
    }
    let left = count
    for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes[at++] = (left % 0x80) | 0x80
    bytes[at++] = left
  }
  return bytes.subarray(0, at)
}

/** Throws if the bytes are not counts. */
export function decodeCounts(value: Bytes): Counts {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const counts: Counts = new Map()
  for (let at = 0; at < bytes.length;) {
    const octets = bytes[at++] ?? 0
    const name = octets === 1 ? String.fromCharCode(bytes[at] ?? 0) : bytes.toString('utf8', at, at + octets)
    at += octets
    let count = 0
    for (let unit = 1; ; unit *= 0x80) {
      const byte = bytes[at++]
      if (byte === undefined) throw new TypeError('counts that end within one')
      count += (byte & 0x7f) * unit
      if (byte < 0x80) break
    }
    counts.set(name, count)
  }
  return counts
}

/** Adds `delta` to each name. Names that exceed the length octet are shortened. */
export function addNames(counts: Counts, names: readonly string[], delta: number): void {
  for (const name of names) {
    const short = name.length > maxNameLength ? name.slice(0, maxNameLength) : name
    counts.set(short, (counts.get(short) ?? 0) + delta)
  }
}
/** A UTF-16 unit has at most three octets in UTF-8. */
const maxNameLength = 85

export function addCounts(counts: Counts, more: ReadonlyMap<string, number>): void {
  for (const [name, count] of more) counts.set(name, (counts.get(name) ?? 0) + count)
}

/** Keeps the subjects with the highest counts. The counts of others go to their letters without a subject. Sums by letter do not change. */
export function foldSubjects(counts: Counts, maxSubjects: number): void {
  if (counts.size <= maxSubjects) return
  const weights = new Map<string, number>()
  for (const [name, count] of counts) if (name.length > 1) weights.set(name.slice(1), (weights.get(name.slice(1)) ?? 0) + count)
  if (weights.size <= maxSubjects) return
  const kept = new Set([...weights].toSorted(([, a], [, b]) => b - a).slice(0, maxSubjects).map(([subject]) => subject)) // prettier-ignore
  for (const [name, count] of counts) {
    if (name.length === 1 || kept.has(name.slice(1))) continue
    counts.delete(name)
    addNames(counts, [name.charAt(0)], count)
  }
}
