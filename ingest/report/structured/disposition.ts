/** Parses message disposition notifications (RFC 8098): read receipts, and refusals by a filter after the mail was accepted. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { typedAddress } from '../facts/mail-address.ts'
import { failureCodes } from '../facts/reply-codes.ts'
import { reportEvent, type ReportFrame } from '../facts/report-event.ts'
import { valueIn, type FieldGroup } from '../facts/status-fields.ts'

/** RFC 5429 §2.1.2: status for a message that the recipient's rules refused. */
const refusedByRules = '5.7.1'

/**
 * Returns an event only for a refusal. A refusing filter (Sieve's reject, RFC 5429 §2.1.1) reports the disposition `deleted`. A mail client
 * that deletes unread mail reports the same; only the text differs. Reading, deleting or printing shows that the mail arrived.
 */
export function dispositionEvents(groups: readonly FieldGroup[], text: string, isRejection: boolean, frame: ReportFrame): FeedbackEvent[] {
  const group = groups.find((candidate) => valueIn(candidate, 'disposition') !== undefined)
  const disposition = group ? valueIn(group, 'disposition')?.toLowerCase() : undefined
  if (!group || disposition === undefined || !isRejection || !/automatic-action.*;\s*(?:deleted|denied|failed)/.test(disposition)) return []
  const recipient = typedAddress(valueIn(group, 'final-recipient') ?? '') ?? null
  const original = typedAddress(valueIn(group, 'original-recipient') ?? '')
  const codes = failureCodes(text)
  return [
    reportEvent(frame, {
      type: 'bounced',
      isStructured: false,
      recipient,
      originalRecipient: original !== undefined && original.toLowerCase() !== recipient?.toLowerCase() ? original : null,
      action: 'failed',
      status: codes.status ?? refusedByRules,
      smtpCode: codes.smtpCode,
      diagnostic: text.slice(0, 4000),
    }),
  ]
}
