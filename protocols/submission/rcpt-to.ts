/** RCPT TO (RFC 5321 §4.1.1.3): the forward-path and its parameters. Whether mail may go there is decided with the whole message. */
import { parseAddress } from '#core/addresses.ts'
import { needsSmtpUtf8, refuseUnknownParameters, replacement, type PathArgument } from './mail-from.ts'
import { NegativeReply } from './smtp-reply.ts'

const known: ReadonlySet<string> = new Set()

/** The forward-path in its one form. */
export function checkRcptTo(path: PathArgument, smtpUtf8: boolean): string {
  refuseUnknownParameters(path.args || {}, known)
  if (path.eightBit && !smtpUtf8) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox || path.address.includes(replacement)) throw new NegativeReply(501, '5.1.3', 'The recipient address is not valid.')
  return mailbox.address
}
