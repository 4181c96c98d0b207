/** What is said to a peer about one message before its content, and what is not worth saying because the peer cannot take it. */
import type { DeliveryJob, PeerReply, RecipientReport } from '#core/delivery/transport.ts'
import type { Capabilities } from '../connection/capabilities.ts'
import { messageNotice, recipientNotice } from './delivery-notice.ts'

/** The commands for one message to one peer. */
export interface Envelope {
  /** Complete with CRLF. */
  readonly mail: string
  /** Complete RCPT commands. */
  readonly rcpt: readonly string[]
  /** For each of them, its place in the job's list. */
  readonly places: readonly number[]
  /** By place: recipients that were decided without asking the peer. */
  readonly reports: (RecipientReport | undefined)[]
}

const tooBig = ownRefusal(552, '5.3.4', 'Not sent: the message is larger than the host takes.')
const needsUtf8 = ownRefusal(553, '5.6.7', 'Not sent: the host does not offer SMTPUTF8, which this message or address needs.')
const unfit = ownRefusal(553, '5.1.3', 'Not sent: the address cannot be put into an SMTP command.')

// Whatever could end a command or a path early. Addresses were checked long ago; this is the last door.
const unfitCharacters = /[\u0000-\u0020\u007f<>]/
const beyondAscii = /[^\u0000-\u007f]/

/** Decides the commands. When no recipient is left, nothing is to be sent. */
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
