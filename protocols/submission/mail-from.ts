/** MAIL FROM (RFC 5321 §4.1.1.2) on a submission server: the reverse-path, its parameters, and the credential's say. */
import { parseAddress } from '#core/addresses.ts'
import type { SmtpLogin } from '#core/submission/smtp-door.ts'
import type { SMTPServerAddress } from 'smtp-server'
import { NegativeReply } from './smtp-reply.ts'

/** A path as the package parsed it. */
export interface PathArgument extends SMTPServerAddress {
  /** The command line held octets over 127, so the path may only be used with SMTPUTF8 (RFC 6531 §3.4). */
  readonly eightBit?: boolean
}

// AUTH= is what a relaying client may add (RFC 4954 §5); we trust nobody's word on it.
const known = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'])

/** The reverse-path in its one form; a refusal when the message could never be taken. */
export function checkMailFrom(path: PathArgument, login: SmtpLogin): string {
  const parameters = path.args || {}
  refuseUnknownParameters(parameters, known)
  if (path.address === '') {
    throw new NegativeReply(550, '5.7.1', 'The null reverse-path is for bounces, which are not submitted here; give a sender address.')
  }
  if (path.eightBit && parameters['SMTPUTF8'] !== true) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox || path.address.includes(replacement)) throw new NegativeReply(553, '5.1.7', 'The sender address is not valid.')
  refuseDeclaredSize(Number(parameters['SIZE'] ?? 0), login.maxMessageBytes())
  login.checkMailFrom(mailbox.address)
  return mailbox.address
}

/** What invalid UTF-8 was decoded to. */
export const replacement = '\ufffd'

export const needsSmtpUtf8 = new NegativeReply(550, '5.6.7', 'An address outside ASCII needs the SMTPUTF8 parameter of MAIL FROM.')

/** RFC 5321 §4.1.1.11. */
export function refuseUnknownParameters(parameters: Readonly<Record<string, unknown>>, taken: ReadonlySet<string>): void {
  const unknown = Object.keys(parameters).find((name) => !taken.has(name))
  if (unknown !== undefined) throw new NegativeReply(555, '5.5.4', `The parameter ${unknown.slice(0, 40)} is not known here.`)
}

/** RFC 1870 §6.1: a message that is declared too large is refused before it is sent. */
function refuseDeclaredSize(octets: number, max: number): void {
  if (octets > max) throw new NegativeReply(552, '5.3.4', `The message is larger than the ${max} octets allowed; make it smaller.`)
}
