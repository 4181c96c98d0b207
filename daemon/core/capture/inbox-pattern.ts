/** Patterns of virtual inboxes, and which captures they are for. Spec "Virtual inbox". */
import { foldAddress, parseAddress, parseDomain } from '../addresses.ts'

/** The addresses of a capture. */
interface Addressed {
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

export const catchAll = '*'

/** The pattern in the one spelling it is kept in, whatever its letters of case; undefined when it is none. */
export function parsePattern(text: string): string | undefined {
  if (text === catchAll) return text
  if (text.startsWith('@')) {
    const domain = parseDomain(text.slice(1))
    return domain === undefined ? undefined : `@${domain}`
  }
  const mailbox = text.includes('*') ? undefined : parseAddress(text) // no part of an address is a wildcard
  return mailbox && foldAddress(mailbox.address)
}

/** What could only be a pattern, and no id of an inbox. */
export const looksLikePattern = (text: string): boolean => text === catchAll || text.includes('@')

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

/** Whether a capture is in an inbox. */
export const landsIn = (
  { projectId, addressPattern }: { readonly projectId: string; readonly addressPattern: string },
  capture: Addressed & { readonly projectId: string },
): boolean => projectId === capture.projectId && (addressPattern === catchAll || patternsOf(capture).has(addressPattern))
