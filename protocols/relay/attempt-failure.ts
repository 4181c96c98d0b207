/** Errors that end an attempt before all recipients have a reply, by code. */
import type { AttemptError, PeerReply } from '#core/delivery/transport.ts'
import { outboundErrors, OutboundFailure } from '../outbound/failure.ts'

/**
 * Maps each code to the sentence that a trace shows. Recipients without a reply become `transient`, or `unknown` after the final dot was
 * written.
 */
export const attemptErrors = {
  ...outboundErrors,
  greeting_timeout: 'The host accepted the connection but sent no greeting in time.',
  greeting_refused: 'The host refused the session in its greeting.',
  ehlo_refused: 'The host refused EHLO and HELO.',
  starttls_unavailable: 'The host does not offer STARTTLS, which this destination requires.',
  starttls_deferred: 'The host cannot start TLS at the moment.',
  auth_unavailable: 'The host offers no supported authentication mechanism (AUTH PLAIN or LOGIN, XOAUTH2 with OAuth 2.0).',
  auth_needs_tls: 'The destination has credentials but no TLS. Credentials are never sent over a network without TLS.',
  auth_failed: 'The host refused the sign-in: user name with password or access token.',
  destination_misconfigured: 'The destination cannot be used with its current settings.',
  token_unavailable: 'No access token is available at the moment.',
  auth_deferred: 'The host cannot check the sign-in at the moment.',
  command_timeout: 'The host did not answer a command in time.',
  body_timeout: 'The host did not accept the content in time.',
  final_timeout: 'The host did not answer in time after the complete message was sent.',
  peer_closing: 'The host is closing the connection (421).',
  protocol_error: 'The answer of the host is not valid SMTP.',
  message_unreadable: 'The message cannot be converted to the fields of this provider.',
  content_failed: 'The stored message is not readable.',
  start_not_recorded: 'The start of the attempt could not be recorded, so the message was not sent.',
  closed: 'The service is shutting down.',
} as const

export type AttemptErrorCode = keyof typeof attemptErrors

export type Phase = 'dns' | 'connect' | 'tls' | 'greeting' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'final'

/** Reason why a dialog ended early. Never created on the hot path. */
export class Failure extends Error implements AttemptError {
  override readonly name = 'Failure'
  readonly code: AttemptErrorCode
  readonly phase: Phase
  /** Reply of the peer, if it is the reason. */
  readonly reply: PeerReply | undefined
  /** Address of the peer, if a connection was opened. */
  address: string | undefined
  /** Host names of a certificate that is for another host. */
  certificateNames: readonly string[] | undefined

  constructor(code: AttemptErrorCode, phase: Phase, detail?: string, reply?: PeerReply) {
    super(detail === undefined ? attemptErrors[code] : `${attemptErrors[code]} ${detail}`)
    this.code = code
    this.phase = phase
    this.reply = reply
  }

  /** Converts the failure for a report. */
  toAttemptError(): AttemptError {
    const misconfigured = this.code === 'destination_misconfigured' ? ({ class: 'misconfigured' } as const) : undefined
    return { code: this.code, message: this.message, phase: this.phase, ...misconfigured }
  }
}

/** Converts an error to a failure of the attempt. `phase` applies unless the error names another step. */
export function asFailure(error: unknown, phase: Phase): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof OutboundFailure)) return new Failure('connection_lost', phase)
  const failure = new Failure(error.code, error.step === 'request' ? phase : error.step, error.detail)
  failure.certificateNames = error.certificateNames
  return failure
}
