/** The paths of MAIL and RCPT (RFC 5321 §4.1.1.2 and §4.1.1.3) and their parameters, as every server here reads them. */
import { addressProblem } from '#config/mail/address-problem.ts'
import { parseAddress } from '#core/addresses.ts'
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { NegativeReply } from './smtp-reply.ts'

/** A path as the package parsed it. */
export interface PathArgument extends SMTPServerAddress {
  /** The command line held octets over 127, so the path may only be used with SMTPUTF8 (RFC 6531 §3.4). */
  readonly eightBit?: boolean
}

const none: ReadonlySet<string> = new Set()

export const needsSmtpUtf8 = new NegativeReply(550, '5.6.7', 'An address outside ASCII needs the SMTPUTF8 parameter of MAIL FROM.')

/** Whether MAIL had the parameter. `envelope.smtpUtf8` would not do: the package sets it for a MAIL that is refused, and leaves it set. */
export function saysSmtpUtf8({ envelope: { mailFrom } }: SMTPServerSession): boolean {
  return mailFrom !== false && mailFrom.args !== false && mailFrom.args['SMTPUTF8'] === true
}

/** The reverse-path in its one form, empty when it is null. */
export function readReversePath(path: PathArgument, known: ReadonlySet<string>): string {
  const parameters = path.args || {}
  refuseUnknownParameters(parameters, known)
  if (path.address === '') return ''
  if (path.eightBit && parameters['SMTPUTF8'] !== true) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox) throw noMailbox(553, '5.1.7', 'sender', path.address)
  return mailbox.address
}

/** The forward-path in its one form; `postmaster` alone is that of `hostname` (RFC 5321 §4.5.1). */
export function readForwardPath(path: PathArgument, smtpUtf8: boolean, hostname: string): string {
  refuseUnknownParameters(path.args || {}, none)
  if (path.address.toLowerCase() === 'postmaster') return `postmaster@${hostname}`
  if (path.eightBit && !smtpUtf8) throw needsSmtpUtf8
  const mailbox = parseAddress(path.address)
  if (!mailbox) throw noMailbox(501, '5.1.3', 'recipient', path.address)
  return mailbox.address
}

/** The refusal of a path that is no mailbox, with the reason if it is one that can be put right. */
export function noMailbox(code: 501 | 553, enhanced: string, whose: 'sender' | 'recipient', address: string): NegativeReply {
  const problem = addressProblem(address)
  return new NegativeReply(code, enhanced, `The ${whose} address ${problem ?? 'is not valid'}.`)
}

/** RFC 1870 §6.1: a message that is declared too large is refused before it is sent. */
export function refuseDeclaredSize({ args }: PathArgument, max: number): void {
  if (Number((args || {})['SIZE'] ?? 0) > max) {
    throw new NegativeReply(552, '5.3.4', `The message is larger than the ${max} octets allowed; make it smaller.`)
  }
}

/** RFC 5321 §4.1.1.11. */
export function refuseUnknownParameters(parameters: Readonly<Record<string, unknown>>, taken: ReadonlySet<string>): void {
  const unknown = Object.keys(parameters).find((name) => !taken.has(name))
  if (unknown !== undefined) throw new NegativeReply(555, '5.5.4', `The parameter ${unknown.slice(0, 40)} is not known here.`)
}
