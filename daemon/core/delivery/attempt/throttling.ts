/**
 * Detects replies that ask the sender to send fewer messages, by code and text. Does not match other transient replies: a busy mailbox,
 * greylisting, or a bad reputation of an address or domain.
 */
import type { AttemptReport, PeerReply, RecipientReport } from '../transport.ts'

/** Transient replies about rates, quotas and connections of the sender, with their known providers. */
const words: readonly RegExp[] = [
  /throttl/i, // Amazon SES: "Throttling failure: Maximum sending rate exceeded", and Microsoft 365
  /\brate[- ]?limit/i, // Mailgun, Postmark, Zoho, Rspamd, Haraka, Microsoft's "temporarily rate limited"
  /\blimit(?:ed)? (?:the )?rate\b|\brate (?:is )?(?:limited|exceeded)\b/i,
  /(?:message|sending|submission|send|recipient|connection)s? rate\b.{0,60}(?:exceed|limit|too)/i, // Exchange: "Message submission rate"
  /(?:unusual|unusually high) rate of/i, // Gmail 4.7.28
  /unexpected volume/i, // Yahoo [TSS04]
  /too many (?:\w+ ){0,3}?(?:messages?|e-?mails?|mails|connections?|sessions?|login attempts|logins|transactions|requests|commands)\b/i,
  /too (?:fast|quickly|frequently)\b|slow(?:er)? down|try again slower/i,
  /max(?:imum|\.)? (?:\w+ ){0,4}?(?:sending rate|messages? per|e-?mails? per|connections?|concurrent)/i,
  /(?:messages?|e-?mails?|mails|recipients?) (?:per|an|a|\/) ?(?:second|minute|hour|day)\b/i, // cPanel: "exceeded the max emails per hour"
  /(?:sending|send|submission|hourly|daily|message|mail|e-?mail|outgoing|outbound|credit|sender thread|concurrent\w*) (?:\w+ ){0,3}?(?:quota|limit)s?\b.{0,40}(?:exceed|reach|hit|full)/i,
  /(?:exceed|reach|hit)\w* (?:\w+ ){0,5}?(?:sending|send|submission|hourly|daily|message|mail|e-?mail|outgoing|outbound|relay)s? (?:\w+ ){0,3}?(?:quota|limit)/i,
  /(?:quota|limit) (?:exceeded|reached) for (?:the |this )?(?:sender|user|account|sasl|client)/i,
  /concurren\w* .{0,40}(?:limit|exceed|maximum)/i,
  /policyd?.{0,40}(?:quota|limit) (?:exceeded|reached)/i,
  /too (?:much mail|frequent)|received this hour|unusual sending activity|maximum credits exceeded/i, // Postfix, SendGrid, Zoho
  /recipient limit exceeded|try again later, closing connection/i, // Mailgun; Gmail after frequent logins or messages
  /trop de (?:messages|mails|connexions|connections)|zu viele (?:nachrichten|mails|e-mails|verbindungen)/i,
]

/** Enhanced codes for senders with too many messages, each from one provider's documentation. */
const codes: ReadonlySet<string> = new Set([
  '4.7.28', // Gmail
  ...['4.7.500', '4.7.501', '4.7.502', '4.7.650', '4.7.651', '4.7.652'], // Microsoft: server busy, address limits
])

/** Texts about the recipient's mailbox, which do not affect other recipients. */
const ofRecipient =
  /receiving (?:e-?mail|mail|messages) (?:at a rate|too)|recipient'?s? (?:mailbox|inbox|account)|user you are trying to contact|mailbox (?:is )?(?:full|over)/i
const greylisting = /gr[ae]y-?list/i

/** Codes of the recipient's mailbox, RFC 3463 §3.3. */
const mailboxCodes = /^4\.2\./

/** Permanent replies that providers use for an exceeded rate or quota. The message stays queued and may fail over. */
const refusedForNow: readonly RegExp[] = [
  /^5\.4\.5 .*(?:daily|sending|user).*(?:quota|limit)/i, // Gmail: "550 5.4.5 Daily user sending limit exceeded"
  /SubmissionQuotaExceeded/i, // Microsoft 365
  /^5\.2\.2 submission quota exceeded|^5\.2\.12[0-9] .*(?:hour|day|limit)/i, // Microsoft 365, Outlook.com
  /^(?:5\.7\.\d )?too many (?:e-?mails|messages) per second/i, // Mailtrap
]

const transientCodes: ReadonlySet<number> = new Set([421, 432, 450, 451, 452, 454])

/** Returns true if the reply asks us to send fewer messages. */
export function isThrottling({ code, enhanced = '', text }: PeerReply): boolean {
  const said = text.slice(0, 1000).replaceAll(/\s+/g, ' ')
  const whole = enhanced !== '' && !said.startsWith(enhanced) ? `${enhanced} ${said}` : said
  if (code >= 500) return refusedForNow.some((form) => form.test(whole))
  if (!transientCodes.has(code) || ofRecipient.test(said) || greylisting.test(said)) return false
  const [, status = ''] = /^(\d\.\d{1,3}\.\d{1,3})\b/.exec(whole) ?? []
  if (mailboxCodes.test(status)) return false
  return codes.has(status) || words.some((form) => form.test(said))
}

/**
 * Applies throttling to the report: sets the error `provider_rate_limited`, and keeps recipients queued that a permanent code refused
 * temporarily.
 */
export function throttlingNoted(report: AttemptReport): AttemptReport {
  if (report.error?.class !== undefined) return report
  const isMeant = ({ verdict, reply }: RecipientReport): boolean =>
    (verdict === 'transient' || verdict === 'permanent') && reply !== undefined && isThrottling(reply)
  const found = report.recipients.find(isMeant)
  if (!found?.reply) return report
  const { code, text } = found.reply
  return {
    ...report,
    recipients: report.recipients.map((recipient) => (isMeant(recipient) ? { ...recipient, verdict: 'transient' } : recipient)),
    error: {
      code: 'provider_rate_limited',
      message: `The provider is rate limiting: ${String(code)} ${text.slice(0, 300)}`,
      phase: report.error?.phase ?? 'answer',
      class: 'rate_limited',
    },
  }
}
