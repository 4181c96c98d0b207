/** Creates report mails: a bounce as a delivery status notification (RFC 3464), a complaint in the Abuse Reporting Format (RFC 5965). */
import { randomBytes } from 'node:crypto'
import { rfc5322Date } from '#core/submission/compose/compose.ts'
import { refusal } from '#core/mail-tests/test-recipients.ts'

/** Delivery that a report refers to. */
export interface Returned {
  readonly recipient: string
  readonly mailFrom: string
  /** The header block, and possibly part of the body. */
  readonly head: Uint8Array
}

const postmaster = 'postmaster@recipients.invalid'
const reportingName = 'recipients.invalid'

/** Creates a bounce: the recipient was refused permanently with this SMTP reply code. */
export function bounceMail(returned: Returned, code: number, nowMs: number): Buffer {
  const { recipient } = returned
  const { enhanced, text } = refusal(recipient, code)
  const status = [
    `Reporting-MTA: dns; ${reportingName}`,
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    `Status: ${enhanced}`,
    `Diagnostic-Code: smtp; ${code} ${enhanced} ${text}`,
  ]
  return report(returned, nowMs, {
    type: 'delivery-status',
    subject: 'Undelivered Mail Returned to Sender',
    sentence: `Your message could not be delivered to ${recipient}: ${code} ${enhanced} ${text}`,
    fields: status,
  })
}

/** Creates a complaint: the recipient marked the message as unwanted. */
export const complaintMail = (returned: Returned, nowMs: number): Buffer =>
  report(returned, nowMs, {
    type: 'feedback-report',
    subject: 'Abuse report',
    sentence: `The recipient ${returned.recipient} marked a message as unwanted.`,
    fields: [
      'Feedback-Type: abuse',
      'User-Agent: Postern-Mail-Tests/1.0',
      'Version: 1',
      `Original-Mail-From: <${returned.mailFrom}>`,
      `Original-Rcpt-To: <${returned.recipient}>`,
      `Arrival-Date: ${rfc5322Date(nowMs)}`,
    ],
  })

interface Parts {
  readonly type: 'delivery-status' | 'feedback-report'
  readonly subject: string
  readonly sentence: string
  readonly fields: readonly string[]
}

/** Creates a report as in RFC 6522: a sentence for people, fields for programs, and the header of the message. */
function report({ mailFrom, head }: Returned, nowMs: number, { type, subject, sentence, fields }: Parts): Buffer {
  const boundary = `report-${randomBytes(12).toString('hex')}`
  const lines = [
    `From: Mail Delivery System <${postmaster}>`,
    `To: <${mailFrom}>`,
    `Subject: ${subject}`,
    `Date: ${rfc5322Date(nowMs)}`,
    `Message-ID: <${randomBytes(12).toString('hex')}@${reportingName}>`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    ...['', `--${boundary}`, 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', '', sentence],
    ...['', `--${boundary}`, `Content-Type: message/${type}`, '', ...fields],
    ...['', `--${boundary}`, 'Content-Type: text/rfc822-headers', '', ''],
  ]
  return Buffer.concat([Buffer.from(lines.join('\r\n')), headerBlock(head), Buffer.from(`\r\n--${boundary}--\r\n`)])
}

function headerBlock(head: Uint8Array): Buffer {
  const bytes = Buffer.from(head)
  const end = bytes.indexOf('\r\n\r\n')
  return end < 0 ? bytes : bytes.subarray(0, end + 2)
}
