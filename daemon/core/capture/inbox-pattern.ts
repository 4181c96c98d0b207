/** Patterns of virtual inboxes, and which captures they are for. Spec "Virtual inbox". */
import { trimInvisible } from '#config/mail/invisible.ts'
import { foldAddress, parseDomain, parseExactAddress } from '../addresses.ts'
import { patternsOf, type Addressed } from '../trace/arrivals.ts'

export const catchAll = '*'

/** The pattern in the one spelling it is kept in, whatever its letters of case; undefined when it is none. */
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

/** What could only be a pattern, and no id of an inbox. */
export const looksLikePattern = (text: string): boolean => text === catchAll || text.includes('@')

/** Whether a capture is in an inbox. */
export const landsIn = (
  { projectId, addressPattern }: { readonly projectId: string; readonly addressPattern: string },
  capture: Addressed & { readonly projectId: string },
): boolean => projectId === capture.projectId && (addressPattern === catchAll || patternsOf(capture).has(addressPattern))
