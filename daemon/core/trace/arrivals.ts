/** Index positions of captured messages: the inbox patterns that match a message, and its position in the order of each inbox. */
import { foldAddress } from '../addresses.ts'

/** Addresses of a capture. */
export interface Addressed {
  readonly addressesSeen: readonly string[]
  readonly intendedTo: readonly string[]
  readonly foundLater?: FoundLater | undefined
}

/** Addresses found in the body, after the capture was in other inboxes already. */
export interface FoundLater {
  /** Position among the ids of captures. */
  readonly place: string
  readonly addresses: readonly string[]
}

/** Returns all patterns except `*` that match the capture: its seen and intended addresses, and their domains. */
export function patternsOf(capture: Pick<Addressed, 'addressesSeen' | 'intendedTo'>): ReadonlySet<string> {
  const known = knownPatterns.get(capture)
  if (known) return known
  const addresses = [...capture.addressesSeen, ...capture.intendedTo].map(foldAddress)
  const patterns = new Set([...addresses, ...addresses.map((address) => address.slice(address.lastIndexOf('@')))])
  knownPatterns.set(capture, patterns)
  return patterns
}

/** Caches patterns, because a capture can have a thousand addresses and is compared with every awaited inbox. */
const knownPatterns = new WeakMap<object, ReadonlySet<string>>()

/**
 * Returns the patterns of `patternsOf`, each with the position of the capture in the order of its inboxes. The position is empty unless the
 * message joined the inbox after its capture. A reader who has seen the latest message of an inbox has therefore missed no earlier one.
 */
export function arrivals(capture: Addressed): ReadonlyMap<string, readonly string[]> {
  const { addressesSeen, intendedTo, foundLater } = capture
  const later = new Set(foundLater?.addresses)
  const atOnce = patternsOf({ intendedTo, addressesSeen: addressesSeen.filter((address) => !later.has(address)) })
  return new Map([...patternsOf(capture)].map((pattern) => [pattern, foundLater && !atOnce.has(pattern) ? [foundLater.place] : []]))
}

/** Bounds of the capture ids of a millisecond. Ids begin with their time in hexadecimal (`newId`); `g` sorts after every digit. */
export const firstIdOf = (ms: number): string =>
  `cap_${Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')}`
export const lastIdOf = (ms: number): string => `${firstIdOf(ms)}g`
export const timeOfId = (captureId: string): number => Number.parseInt(captureId.slice(4, 16), 16)
