/** Explains why a recipient with a recommended suppression is not suppressed. Pure. */
import type { TraceReport } from '../../trace/trace-report.ts'
import type { BounceDiagnosis } from '../search/diagnosis.ts'

export interface NotSuppressed extends Pick<BounceDiagnosis['suppress'], 'recommended' | 'done' | 'flag'> {
  /** The evidence; undefined without an SMTP refusal of this recipient and without a report. */
  readonly report: Pick<TraceReport, 'proof' | 'suppression' | 'maySuppress' | 'smtpCode'> | undefined
  /** Number of recipients of the message. */
  readonly recipients: number
}

/** Returns one sentence. Returns null if no suppression is recommended or the recipient is already suppressed. */
export function whyNotSuppressed({ recommended, done, flag, report, recipients }: NotSuppressed): string | null {
  if (!recommended || done) return null
  if (report?.suppression) return 'The address was suppressed, and the suppression was removed since or has expired.'
  if (!flag) return 'The flag bounce_auto_suppress is off, so no address is suppressed automatically.'
  if (report === undefined) return 'No server refused this recipient over SMTP; only such refusals and reports suppress automatically.'
  return tooLittle(report, recipients) ?? 'The flag bounce_auto_suppress was off when the bounce was received.'
}

/** Returns what the report does not prove. Reports from before `maySuppress` existed are judged by their proof. */
function tooLittle(
  { proof, maySuppress, smtpCode }: Pick<TraceReport, 'proof' | 'maySuppress' | 'smtpCode'>,
  recipients: number,
): string | undefined {
  if (maySuppress === true) return undefined
  if (proof === 'message_id' || proof === 'subject') {
    const what = proof === 'subject' ? 'recipient, subject and time' : 'Message-ID'
    return `The report identifies the message only by its ${what}, which others can know too, so it does not suppress the address.`
  }
  if (proof === 'reference' && recipients > 1)
    return 'The report contains only a token that every recipient of the message knows, and could be about another recipient, so it does not suppress the address.'
  if (maySuppress === undefined) return undefined
  if (proof === 'attempt' && smtpCode !== null && smtpCode < 500)
    return 'The server deferred the message until delivery was abandoned, which does not suppress the address.'
  if (proof === 'attempt') return 'The server gave one reply for all recipients, which does not show whose address is bad.'
  return 'The report is free text without proof of its origin, so it does not suppress the address.'
}
