/** Why a recipient who should be on the suppression list is not on it. Pure. */
import type { TraceReport } from '../../trace/trace-report.ts'
import type { BounceDiagnosis } from '../search/diagnosis.ts'

export interface NotSuppressed extends Pick<BounceDiagnosis['suppress'], 'recommended' | 'done' | 'flag'> {
  /** What speaks for it; undefined where nobody refused this recipient by SMTP and no report came. */
  readonly report: Pick<TraceReport, 'proof' | 'suppression' | 'maySuppress' | 'smtpCode'> | undefined
  /** How many recipients the message has. */
  readonly recipients: number
}

/** One sentence; null where nothing is recommended, or where it is done. */
export function whyNotSuppressed({ recommended, done, flag, report, recipients }: NotSuppressed): string | null {
  if (!recommended || done) return null
  if (report?.suppression) return 'It put the address on the suppression list, and the entry was taken off since, or ended.'
  if (!flag) return 'The flag bounce_auto_suppress is off, so that nothing is suppressed by itself.'
  if (report === undefined) return 'No server refused this recipient over SMTP, and only such refusals and reports suppress by themselves.'
  return tooLittle(report, recipients) ?? 'The flag bounce_auto_suppress was off when this came.'
}

/** What the report does not prove. Reports from before `maySuppress` was kept are judged by their proof. */
function tooLittle(
  { proof, maySuppress, smtpCode }: Pick<TraceReport, 'proof' | 'maySuppress' | 'smtpCode'>,
  recipients: number,
): string | undefined {
  if (maySuppress === true) return undefined
  if (proof === 'message_id' || proof === 'subject') {
    const what = proof === 'subject' ? 'recipient, subject and time' : 'Message-ID'
    return `The report names the message by its ${what} alone, which others can know as well, so that it suppresses nobody.`
  }
  if (proof === 'reference' && recipients > 1)
    return 'The report shows a token that every recipient of the message knows, and could speak of the others, so that it suppresses nobody.'
  if (maySuppress === undefined) return undefined
  if (proof === 'attempt' && smtpCode !== null && smtpCode < 500)
    return 'The server put the message off until it was given up, which suppresses nobody by itself.'
  if (proof === 'attempt') return 'The server gave one reply for all recipients, which does not tell whose address is bad.'
  return 'The report is no more than words that somebody wrote, which suppress nobody.'
}
