/** Recognizes a refusal of the reverse-path, and not of the recipient or the content: another reverse-path may be taken then. */
import type { PeerReply } from '#core/delivery/transport.ts'

/** RFC 3463 §3.2: the sender's mailbox or system address is bad. */
const senderCodes: ReadonlySet<string> = new Set(['5.1.7', '5.1.8'])
/** What Exchange answers to content whose reverse-path is not the login's. */
const sendAsCodes: ReadonlySet<string> = new Set(['5.7.60', '5.2.252'])
const senderWords = /\bsenders?\b|\bmail[ -]?from\b|\bfrom address\b|\b(?:return|reverse)[ -]?path\b|\benvelope\b/i
const sendAsWords = /\bsendas\w*|\bsend as this sender\b/i
/** Size, sign-in and sequence: nothing that another reverse-path would change (RFC 5321 §4.2.3, RFC 4954 §6). */
const notOfSender: ReadonlySet<number> = new Set([503, 530, 552])

/** `stage` is the command that was answered; `final` is the end of the content. */
export function isOfSender(stage: 'mail' | 'rcpt' | 'final', { code, enhanced = '', text }: PeerReply): boolean {
  if (code < 500 || notOfSender.has(code)) return false
  if (senderCodes.has(enhanced) || sendAsCodes.has(enhanced)) return true
  if (stage === 'mail') return true
  return stage === 'rcpt' ? senderWords.test(text) : sendAsWords.test(text)
}
