/** MAIL FROM (RFC 5321 §4.1.1.2) on a submission server: the reverse-path, its parameters, and the credential's say. */
import type { SmtpLogin } from '#core/submission/smtp-door.ts'
import { readReversePath, refuseDeclaredSize, type PathArgument } from '../reception/paths.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'

// AUTH= is what a relaying client may add (RFC 4954 §5); we trust nobody's word on it.
const known = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])

/** The reverse-path in its one form; a refusal when the message could never be taken. */
export function checkMailFrom(path: PathArgument, login: SmtpLogin): string {
  const address = readReversePath(path, known)
  if (address === '') {
    throw new NegativeReply(550, '5.7.1', 'The null reverse-path is for bounces, which are not submitted here; give a sender address.')
  }
  refuseDeclaredSize(path, login.maxMessageBytes())
  login.checkMailFrom(address)
  return address
}
