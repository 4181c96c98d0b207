/**
 * What a peer that offers DSN gets about notifications (RFC 3461 §4): failures are wanted, delays and copies of the
 * content are not, and what comes back names our message and the recipient as we wrote him.
 */
import type { DeliveryJob } from '#core/delivery/transport.ts'
import type { Capabilities } from '../connection/capabilities.ts'

/** RFC 3461 §4.4 and RFC 3461 §4.2, in characters as encoded. */
const maxEnvelopeId = 100
const maxOriginalRecipient = 500

type Job = Pick<DeliveryJob, 'mailFrom' | 'envelopeId'>
type Offered = Pick<Capabilities, 'dsn'>

/** The parameters of MAIL, each with a blank before it. */
export function messageNotice({ envelopeId }: Job, { dsn }: Offered): string {
  if (!dsn) return ''
  const encoded = envelopeId === undefined ? '' : xtext(envelopeId)
  return encoded !== '' && encoded.length <= maxEnvelopeId ? ` RET=HDRS ENVID=${encoded}` : ' RET=HDRS'
}

/** The parameters of RCPT. A null reverse-path gets no notifications, so none are asked for. */
export function recipientNotice({ mailFrom }: Job, address: string, { dsn }: Offered): string {
  if (!dsn || mailFrom === '') return ''
  const encoded = `rfc822;${xtext(address)}`
  // the address type rfc822 is ASCII (RFC 3461 §4.2)
  const isFit = /^[\u0021-\u007e]+$/.test(address) && encoded.length <= maxOriginalRecipient
  return isFit ? ` NOTIFY=FAILURE ORCPT=${encoded}` : ' NOTIFY=FAILURE'
}

/** RFC 3461 §4: what is not printable ASCII, and the characters + and =, as + and two hexadecimal digits. */
export const xtext = (text: string): string =>
  text.replaceAll(/[^\u0021-\u002a\u002c-\u003c\u003e-\u007e]/g, (character) =>
    [...Buffer.from(character)].map((octet) => `+${octet.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
