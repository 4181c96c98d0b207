/**
 * Parameters for delivery notifications, for peers that offer DSN (RFC 3461 §4). They request notifications of failures only, without the
 * content. A notification identifies our message and the recipient as sent.
 */
import type { DeliveryJob } from '#core/delivery/transport.ts'
import type { Capabilities } from '../connection/capabilities.ts'

/** Limits of RFC 3461 §4.4 and RFC 3461 §4.2, in encoded characters. */
const maxEnvelopeId = 100
const maxOriginalRecipient = 500

type Job = Pick<DeliveryJob, 'mailFrom' | 'envelopeId'>
type Offered = Pick<Capabilities, 'dsn'>

/** Returns the parameters of MAIL, each with a leading space. */
export function messageNotice({ envelopeId }: Job, { dsn }: Offered): string {
  if (!dsn) return ''
  const encoded = envelopeId === undefined ? '' : xtext(envelopeId)
  return encoded !== '' && encoded.length <= maxEnvelopeId ? ` RET=HDRS ENVID=${encoded}` : ' RET=HDRS'
}

/** Returns the parameters of RCPT. Empty for a null reverse-path, which receives no notifications. */
export function recipientNotice({ mailFrom }: Job, address: string, { dsn }: Offered): string {
  if (!dsn || mailFrom === '') return ''
  const encoded = `rfc822;${xtext(address)}`
  // the address type rfc822 is ASCII (RFC 3461 §4.2)
  const isFit = /^[\u0021-\u007e]+$/.test(address) && encoded.length <= maxOriginalRecipient
  return isFit ? ` NOTIFY=FAILURE ORCPT=${encoded}` : ' NOTIFY=FAILURE'
}

/** Encodes as xtext (RFC 3461 §4): all characters except printable ASCII, and + and =, become + and two hexadecimal digits. */
export const xtext = (text: string): string =>
  text.replaceAll(/[^\u0021-\u002a\u002c-\u003c\u003e-\u007e]/g, (character) =>
    [...Buffer.from(character)].map((octet) => `+${octet.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
