/** Plans the commands before the content of a message, and refuses recipients that the peer cannot accept. */
import type { DeliveryJob, PeerReply, RecipientReport } from '#core/delivery/transport.ts'
import type { Capabilities } from '../connection/capabilities.ts'
import { messageNotice, recipientNotice } from './delivery-notice.ts'

/** Commands of a message for a peer. */
export interface Envelope {
  /** MAIL command with CRLF. */
  readonly mail: string
  /** RCPT commands with CRLF. */
  readonly rcpt: readonly string[]
  /** For each RCPT command, the index of the recipient in the job. */
  readonly places: readonly number[]
  /** Reports of recipients refused without a command, by index. */
  readonly reports: (RecipientReport | undefined)[]
}

const tooBig = ownRefusal(552, '5.3.4', 'Not sent: the message exceeds the size limit of the host.')
const needsUtf8 = ownRefusal(553, '5.6.7', 'Not sent: the host does not offer SMTPUTF8, which this message or address requires.')
const unfit = ownRefusal(553, '5.1.3', 'Not sent: the address is not valid in an SMTP command.')

// Characters that could end a command or a path early. Addresses were validated earlier; this is the last check.
const unfitCharacters = /[\u0000-\u0020\u007f<>]/
const beyondAscii = /[^\u0000-\u007f]/

/** Plans the commands. If `rcpt` is empty, there is nothing to send. */
export function planEnvelope(job: DeliveryJob, offered: Capabilities): Envelope {
  const reports: (RecipientReport | undefined)[] = []
  const forAll = refusalForAll(job, offered)
  const rcpt: string[] = []
  const places: number[] = []
  let utf8 = job.smtputf8 || beyondAscii.test(job.mailFrom)
  for (const address of job.rcptTo) {
    const needs = beyondAscii.test(address)
    const refusal = forAll ?? refusalForOne(address, needs, offered)
    reports.push(refusal && { address, verdict: 'permanent', reply: refusal, isUnasked: true })
    if (refusal) continue
    utf8 ||= needs
    rcpt.push(`RCPT TO:<${address}>${recipientNotice(job, address, offered)}\r\n`)
    places.push(reports.length - 1)
  }
  return { mail: mailCommand(job, offered, utf8), rcpt, places, reports }
}

function mailCommand(job: DeliveryJob, offered: Capabilities, utf8: boolean): string {
  const size = offered.size ? ` SIZE=${job.size}` : ''
  const body = job.eightBit && offered.eightBitMime ? ' BODY=8BITMIME' : ''
  return `MAIL FROM:<${job.mailFrom}>${size}${body}${utf8 ? ' SMTPUTF8' : ''}${messageNotice(job, offered)}\r\n`
}

function refusalForAll(job: DeliveryJob, offered: Capabilities): PeerReply | undefined {
  if (unfitCharacters.test(job.mailFrom)) return unfit
  if (offered.maxSize !== undefined && job.size > offered.maxSize) return tooBig
  return !offered.smtpUtf8 && (job.smtputf8 || beyondAscii.test(job.mailFrom)) ? needsUtf8 : undefined
}

function refusalForOne(address: string, needs: boolean, offered: Capabilities): PeerReply | undefined {
  if (address === '' || unfitCharacters.test(address)) return unfit
  return needs && !offered.smtpUtf8 ? needsUtf8 : undefined
}

function ownRefusal(code: number, enhanced: string, text: string): PeerReply {
  return { code, enhanced, text }
}
