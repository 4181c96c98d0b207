/** Checks MAIL FROM (RFC 5321 §4.1.1.2) on a submission server: the reverse-path, the parameters and the limits of the credential. */
import type { SmtpLogin } from '#core/submission/doors/smtp-door.ts'
import { readReversePath, refuseDeclaredSize, type PathArgument } from '../reception/paths.ts'

// A relaying client may add AUTH= (RFC 4954 §5). The server ignores its value.
const known = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])

/** Returns the normalized reverse-path. Throws a refusal if the server could never accept the message. */
export function checkMailFrom(path: PathArgument, login: SmtpLogin): string {
  const address = readReversePath(path, known)
  refuseDeclaredSize(path, login.maxMessageBytes())
  login.checkMailFrom(address)
  return address
}
