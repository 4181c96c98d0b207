/** Everything that can keep an attempt from getting replies for its recipients, by name, in one table. */
import type { AttemptError, PeerReply } from '#core/delivery/transport.ts'
import { outboundErrors, OutboundFailure } from '../outbound/failure.ts'

/**
 * Code -> meaning, which is also the sentence shown in a trace. Recipients that have no reply of their own become
 * `transient`, or `unknown` once the final dot has been written.
 */
export const attemptErrors = {
  ...outboundErrors,
  greeting_timeout: 'The host took the connection but did not greet in time.',
  greeting_refused: 'The host greeted with a refusal.',
  ehlo_refused: 'The host refused EHLO and HELO.',
  starttls_unavailable: 'The host does not offer STARTTLS, which this destination requires.',
  starttls_deferred: 'The host could not begin TLS now.',
  auth_unavailable: 'The host offers no way to sign in that this service speaks (AUTH PLAIN or LOGIN, XOAUTH2 with OAuth 2.0).',
  auth_needs_tls: 'The destination has credentials but no TLS, and they are never sent in clear over a network.',
  auth_failed: 'The host refused the sign-in: user name with password or access token.',
  destination_misconfigured: 'The destination cannot be used with its present settings.',
  token_unavailable: 'No access token for signing in could be had now.',
  auth_deferred: 'The host could not check the sign-in now.',
  command_timeout: 'The host did not answer a command in time.',
  body_timeout: 'The host did not take the content in time.',
  final_timeout: 'The host did not answer in time after it had been given the whole message.',
  peer_closing: 'The host is closing the connection (421).',
  protocol_error: 'The host answered with something that is not SMTP.',
  message_unreadable: 'The message cannot be taken apart into the fields that this provider wants.',
  content_failed: 'The stored message could not be read.',
  start_not_recorded: 'The start of the attempt could not be recorded, so the message was not handed over.',
  closed: 'The service is shutting down.',
} as const

export type AttemptErrorCode = keyof typeof attemptErrors

export type Phase = 'dns' | 'connect' | 'tls' | 'greeting' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'final'

/** Why a dialog ended before its time. Made only off the hot path. */
export class Failure extends Error implements AttemptError {
  override readonly name = 'Failure'
  readonly code: AttemptErrorCode
  readonly phase: Phase
  /** What the peer said, where that is the reason. */
  readonly reply: PeerReply | undefined
  /** The address that was connected to, when it came as far as that. */
  address: string | undefined

  constructor(code: AttemptErrorCode, phase: Phase, detail?: string, reply?: PeerReply) {
    super(detail === undefined ? attemptErrors[code] : `${attemptErrors[code]} ${detail}`)
    this.code = code
    this.phase = phase
    this.reply = reply
  }

  /** As it is reported. */
  toAttemptError(): AttemptError {
    const misconfigured = this.code === 'destination_misconfigured' ? ({ class: 'misconfigured' } as const) : undefined
    return { code: this.code, message: this.message, phase: this.phase, ...misconfigured }
  }
}

/** As a failure of the attempt; `phase` is where it was, unless the error says so. */
export function asFailure(error: unknown, phase: Phase): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof OutboundFailure)) return new Failure('connection_lost', phase)
  return new Failure(error.code, error.step === 'request' ? phase : error.step, error.detail)
}
