/** How far a report is trusted: whether it may change a trace, and whether it may keep mail from somebody. Pure. */
import type { Attribution } from './attribution.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'

/** Formats that a server of the operator's own writes; mails can be written by anybody. */
export const ownRecords: readonly FeedbackEvent['format'][] = ['stalwart', 'mailenable', 'postfix', 'exim']

/**
 * A token proves that its sender had the message. Without one, only what the operator's own server says of its work is trusted:
 * who knows a Message-ID can write a mail that looks like a bounce.
 */
export const isVerified = (origin: FeedbackOrigin, event: FeedbackEvent, { proof }: Attribution): boolean =>
  proof === 'return_path' || proof === 'reference' || isOwnRecord(origin, event)

/** Whoever passes a mail on with the secret signs what somebody else wrote. */
const isOwnRecord = ({ channel }: FeedbackOrigin, { format }: FeedbackEvent): boolean => channel === 'signed' && ownRecords.includes(format)

/** Whether the recipient may be suppressed by it, given that the report calls for that. */
export function maySuppress(origin: FeedbackOrigin, event: FeedbackEvent, attribution: Attribution): boolean {
  const { proof, recipient, recipients } = attribution
  if (recipient === null || !isVerified(origin, event, attribution) || proof === 'message_id' || proof === 'subject') return false
  if (origin.hasNullSender === false && !event.isStructured) return false
  if (proof === 'return_path') return true
  // every recipient of a message knows its token, and could speak of the others
  const speaksOfItself = recipients === 1 || isOwnRecord(origin, event)
  return speaksOfItself && (event.isStructured || proof === 'reference')
}
