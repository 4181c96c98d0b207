/** Patterns of virtual inboxes. Spec "Virtual inbox". */
import { trimInvisible } from '#config/mail/invisible.ts'
import { foldAddress, parseDomain, parseExactAddress } from '../addresses.ts'
import { patternsOf, type Addressed } from '../trace/arrivals.ts'

export const catchAll = '*'

/** Returns the normalized pattern, or undefined if it is invalid. Case is ignored. */
export function parsePattern(text: string): string | undefined {
  const trimmed = trimInvisible(text)
  if (trimmed === catchAll) return trimmed
  if (trimmed.startsWith('@')) {
    const domain = parseDomain(trimmed.slice(1))
    return domain === undefined ? undefined : `@${domain}`
  }
  const mailbox = parseExactAddress(text)
  return mailbox && foldAddress(mailbox.address)
}

/** Returns true for text that can be a pattern but not an inbox id. */
export const looksLikePattern = (text: string): boolean => text === catchAll || text.includes('@')

/** Returns true if the capture is in the inbox. */
export const landsIn = (
  { projectId, addressPattern }: { readonly projectId: string; readonly addressPattern: string },
  capture: Addressed & { readonly projectId: string },
): boolean => projectId === capture.projectId && (addressPattern === catchAll || patternsOf(capture).has(addressPattern))
