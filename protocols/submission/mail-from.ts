/** MAIL FROM (RFC 5321 §4.1.1.2) on a submission server: the reverse-path, its parameters, and the credential's say. */
import type { SmtpLogin } from '#core/submission/doors/smtp-door.ts'
import { readReversePath, refuseDeclaredSize, type PathArgument } from '../reception/paths.ts'

// AUTH= is what a relaying client may add (RFC 4954 §5); it is never trusted.
const known = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])

/** The reverse-path in its one form; a refusal when the message could never be taken. */
export function checkMailFrom(path: PathArgument, login: SmtpLogin): string {
  const address = readReversePath(path, known)
  refuseDeclaredSize(path, login.maxMessageBytes())
  login.checkMailFrom(address)
  return address
}
