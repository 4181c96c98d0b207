/** Decides how far a report is trusted: whether it may change a trace, and whether it may suppress the recipient. Pure. */
import type { Attribution } from './attribution.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'

/** Formats of records that the operator's own mail servers write. Reports in other formats are mails, which anybody can write. */
export const ownRecords: readonly FeedbackEvent['format'][] = ['stalwart', 'mailenable', 'postfix', 'exim']

/**
 * Returns whether the report is verified. A token proves that the reporter had the message. Without a token, only records of the operator's
 * own server are trusted: anybody who knows a Message-ID can forge a bounce.
 */
export const isVerified = (origin: FeedbackOrigin, event: FeedbackEvent, { proof }: Attribution): boolean =>
  proof === 'return_path' || proof === 'reference' || isOwnRecord(origin, event)

/**
 * Returns whether the report is a signed record of the operator's own mail server. A signed mail does not count: its signature proves who
 * forwarded the mail, not who wrote it.
 */
const isOwnRecord = ({ channel }: FeedbackOrigin, { format }: FeedbackEvent): boolean => channel === 'signed' && ownRecords.includes(format)

/** Returns whether the report may suppress the recipient, if its content calls for a suppression. */
export function maySuppress(origin: FeedbackOrigin, event: FeedbackEvent, attribution: Attribution): boolean {
  const { proof, recipient, recipients } = attribution
  if (recipient === null || !isVerified(origin, event, attribution) || proof === 'message_id' || proof === 'subject') return false
  if (origin.hasNullSender === false && !event.isStructured) return false
  if (proof === 'return_path') return true
  // each recipient knows the token of the message, and could report on the others
  const speaksOfItself = recipients === 1 || isOwnRecord(origin, event)
  return speaksOfItself && (event.isStructured || proof === 'reference')
}
