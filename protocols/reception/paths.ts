/** Parses the paths of MAIL and RCPT (RFC 5321 §4.1.1.2 and §4.1.1.3) and their parameters, for all servers. */
import { addressProblem } from '#config/mail/address-problem.ts'
import { parseAddress } from '#core/addresses.ts'
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { NegativeReply } from './smtp-reply.ts'

/** A path as the package parsed it. */
export interface PathArgument extends SMTPServerAddress {
  /** The command line has octets above 127, so the path requires SMTPUTF8 (RFC 6531 §3.4). */
  readonly eightBit?: boolean
}

const none: ReadonlySet<string> = new Set()

export const needsSmtpUtf8 = new NegativeReply(550, '5.6.7', 'An address outside ASCII needs the SMTPUTF8 parameter of MAIL FROM.')

/**
 * Whether MAIL has the parameter. `envelope.smtpUtf8` is not reliable: the package sets it also for a refused MAIL, and does not reset it.
 */
export function saysSmtpUtf8({ envelope: { mailFrom } }: SMTPServerSession): boolean {
  return mailFrom !== false && mailFrom.args !== false && mailFrom.args['SMTPUTF8'] === true
}

/** Returns the normalized reverse-path, or an empty string for the null reverse-path. */
export function readReversePath(path: PathArgument, known: ReadonlySet<string>): string {
  const parameters = path.args || {}
  refuseUnknownParameters(parameters, known)
  if (path.address === '') return ''
  if (path.eightBit && parameters['SMTPUTF8'] !== true) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox) throw noMailbox(553, '5.1.7', 'sender', path.address)
  return mailbox.address
}

/** Returns the normalized forward-path. `postmaster` without a domain is the postmaster of `hostname` (RFC 5321 §4.5.1). */
export function readForwardPath(path: PathArgument, smtpUtf8: boolean, hostname: string): string {
  refuseUnknownParameters(path.args || {}, none)
  if (path.address.toLowerCase() === 'postmaster') return `postmaster@${hostname}`
  if (path.eightBit && !smtpUtf8) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox) throw noMailbox(501, '5.1.3', 'recipient', path.address)
  return mailbox.address
}

/** Creates the refusal of an invalid mailbox. The text names the problem if the sender can correct it. */
export function noMailbox(code: 501 | 553, enhanced: string, whose: 'sender' | 'recipient', address: string): NegativeReply {
  const problem = addressProblem(address)
  return new NegativeReply(code, enhanced, `The ${whose} address ${problem ?? 'is not valid'}.`)
}

/** Refuses a message at MAIL if its declared size exceeds the limit (RFC 1870 §6.1). */
export function refuseDeclaredSize({ args }: PathArgument, max: number): void {
  if (Number((args || {})['SIZE'] ?? 0) > max) {
    throw new NegativeReply(552, '5.3.4', `The message exceeds the limit of ${max} octets; make it smaller.`)
  }
}

/** Refuses unknown parameters (RFC 5321 §4.1.1.11). */
export function refuseUnknownParameters(parameters: Readonly<Record<string, unknown>>, taken: ReadonlySet<string>): void {
  const unknown = Object.keys(parameters).find((name) => !taken.has(name))
  if (unknown !== undefined) throw new NegativeReply(555, '5.5.4', `The parameter ${unknown.slice(0, 40)} is not supported.`)
}
