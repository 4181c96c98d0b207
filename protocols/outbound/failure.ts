/** Errors of outbound connections and requests, by code. */

/** Maps each code to the sentence that users see. No sentence describes the network of the service. */
export const outboundErrors = {
  dns_not_found: 'The host name has no address.',
  dns_timeout: 'The DNS lookup timed out.',
  dns_failed: 'The DNS lookup failed.',
  address_forbidden: 'The host has no address that this service may connect to.',
  connect_refused: 'The host refused the connection.',
  connect_timeout: 'The connection to the host timed out.',
  connect_failed: 'The host could not be reached.',
  tls_timeout: 'The TLS handshake timed out.',
  tls_failed: 'The TLS handshake failed.',
  tls_verification_failed: 'The certificate of the host could not be verified.',
  connection_lost: 'The connection was lost.',
  aborted: 'The attempt was canceled.',
  http_protocol_error: 'The answer of the host is not valid HTTP.',
  answer_timeout: 'The host did not answer in time.',
  answer_too_long: 'The answer of the host exceeds the size limit.',
} as const

export type OutboundErrorCode = keyof typeof outboundErrors

/** The steps of opening a connection, in order. */
export type OpeningStep = 'dns' | 'connect' | 'tls'

/** Reason why a connection or an answer is missing. */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure'
  readonly code: OutboundErrorCode
  readonly step: OpeningStep | 'request'
  /** Text after the sentence of the code in the message. */
  readonly detail: string | undefined
  /** Host names of a certificate that is for another host. */
  certificateNames: readonly string[] | undefined

  constructor(code: OutboundErrorCode, step: OpeningStep | 'request', detail?: string, cause?: unknown) {
    super(detail === undefined ? outboundErrors[code] : `${outboundErrors[code]} ${detail}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.step = step
    this.detail = detail
  }
}
