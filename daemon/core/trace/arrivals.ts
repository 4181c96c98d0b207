/** Where captured messages stand: the patterns of inboxes under which each is found, and its place in the order of an inbox. */
import { foldAddress } from '../addresses.ts'

/** The addresses of a capture. */
export interface Addressed {
  readonly addressesSeen: readonly string[]
  readonly intendedTo: readonly string[]
  readonly foundLater?: FoundLater | undefined
}

/** Addresses among those seen that were found after the capture was in other inboxes already. */
export interface FoundLater {
  /** Sorts among the ids of captures. */
  readonly place: string
  readonly addresses: readonly string[]
}

/** Every pattern but `*` under which the capture is found: the addresses that were seen or meant, and their domains. */
export function patternsOf(capture: Pick<Addressed, 'addressesSeen' | 'intendedTo'>): ReadonlySet<string> {
  const known = knownPatterns.get(capture)
  if (known) return known
  const addresses = [...capture.addressesSeen, ...capture.intendedTo].map(foldAddress)
  const patterns = new Set([...addresses, ...addresses.map((address) => address.slice(address.lastIndexOf('@')))])
  knownPatterns.set(capture, patterns)
  return patterns
}

/** A capture can have a thousand addresses, and is compared with every inbox that somebody waits for. */
const knownPatterns = new WeakMap<object, ReadonlySet<string>>()

/**
 * The same patterns, each with what stands before the id of the capture in the order of those inboxes: nothing, unless it came into
 * them later than it was captured. Who has seen the latest message of an inbox has then missed none before it.
 */
export function arrivals(capture: Addressed): ReadonlyMap<string, readonly string[]> {
  const { addressesSeen, intendedTo, foundLater } = capture
  const later = new Set(foundLater?.addresses)
  const atOnce = patternsOf({ intendedTo, addressesSeen: addressesSeen.filter((address) => !later.has(address)) })
  return new Map([...patternsOf(capture)].map((pattern) => [pattern, foundLater && !atOnce.has(pattern) ? [foundLater.place] : []]))
}

/** Ids begin with their time in hexadecimal (`newId`), in which there is no `g`. */
export const firstIdOf = (ms: number): string =>
  `cap_${Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')}`
export const lastIdOf = (ms: number): string => `${firstIdOf(ms)}g`
export const timeOfId = (captureId: string): number => Number.parseInt(captureId.slice(4, 16), 16)
