/** Recognizes a refusal of the reverse-path, as opposed to the recipient or the content. Another reverse-path may then be accepted. */
import type { PeerReply } from '#core/delivery/transport.ts'

/** The sender's mailbox or system address is invalid (RFC 3463 §3.2). */
const senderCodes: ReadonlySet<string> = new Set(['5.1.7', '5.1.8'])
/** Reply of Exchange to content if the reverse-path does not belong to the login. */
const sendAsCodes: ReadonlySet<string> = new Set(['5.7.60', '5.2.252'])
const senderTerms = /\bsenders?\b|\bmail[ -]?from\b|\bfrom address\b|\b(?:return|reverse)[ -]?path\b|\benvelope\b/i
const sendAsTerms = /\bsendas\w*|\bsend as this sender\b/i
/** Size, sign-in and sequence errors, which do not depend on the reverse-path (RFC 5321 §4.2.3, RFC 4954 §6). */
const notOfSender: ReadonlySet<number> = new Set([503, 530, 552])

/** Whether a reply refuses the reverse-path. `stage`: the command of the reply; `final` is the end of the content. */
export function isOfSender(stage: 'mail' | 'rcpt' | 'final', { code, enhanced = '', text }: PeerReply): boolean {
  if (code < 500 || notOfSender.has(code)) return false
  if (senderCodes.has(enhanced) || sendAsCodes.has(enhanced)) return true
  if (stage === 'mail') return true
  return stage === 'rcpt' ? senderTerms.test(text) : sendAsTerms.test(text)
}
