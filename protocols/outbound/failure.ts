/** Everything that can keep this service from an answer of another host, by name, in one table. */

/** Code -> meaning, which is also the sentence that people read. No sentence describes the network around the service. */
export const outboundErrors = {
  dns_not_found: 'The host name has no address.',
  dns_timeout: 'The DNS lookup timed out.',
  dns_failed: 'The look-up of the host name failed.',
  address_forbidden: 'The host has no address that this service may connect to.',
  connect_refused: 'The host refused the connection.',
  connect_timeout: 'The host did not take the connection in time.',
  connect_failed: 'The host could not be reached.',
  tls_timeout: 'The TLS handshake did not end in time.',
  tls_failed: 'The TLS handshake failed.',
  tls_verification_failed: 'The certificate of the host could not be verified.',
  connection_lost: 'The connection broke.',
  aborted: 'The attempt was called off.',
  http_protocol_error: 'The host answered with something that is not HTTP.',
  answer_timeout: 'The host did not answer in time.',
  answer_too_long: 'The answer of the host is longer than the limit.',
} as const

export type OutboundErrorCode = keyof typeof outboundErrors

/** The steps of opening a connection, in their order. */
export type OpeningStep = 'dns' | 'connect' | 'tls'

/** Why there is no connection, or no answer. */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure'
  readonly code: OutboundErrorCode
  readonly step: OpeningStep | 'request'
  /** What follows the sentence of the code in the message. */
  readonly detail: string | undefined

  constructor(code: OutboundErrorCode, step: OpeningStep | 'request', detail?: string, cause?: unknown) {
    super(detail === undefined ? outboundErrors[code] : `${outboundErrors[code]} ${detail}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.step = step
    this.detail = detail
  }
}
