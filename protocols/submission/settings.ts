/** What the submission server is told at its start, and what it tells back for logs and metrics. */
import type { Clock } from '#core/clock.ts'
import type { SmtpDoor } from '#core/submission/smtp-door.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface SubmissionLimits {
  /** RFC 1870 size announced before the login; a credential may have a smaller one. */
  readonly maxMessageBytes: number
  readonly maxRecipients: number
  /** Open connections of all listeners together. */
  readonly maxConnections: number
  /** Open connections of one IPv4 address or one IPv6 /64 network. */
  readonly maxConnectionsPerAddress: number
  /** The longest time a session may last; a message on its way in may finish, for at most as long again. */
  readonly sessionMs: number
  /** The longest silence of a client that owes us input. */
  readonly idleMs: number
  /** The failed login that is answered with 421 and the end of the session. */
  readonly authFailuresPerSession: number
}

export interface SubmissionOptions {
  /** Listeners that start in clear text and offer STARTTLS (RFC 6409 §3.1, RFC 3207). */
  readonly listen: readonly ListenAddress[]
  /** Listeners inside TLS (RFC 8314 §3.3). */
  readonly tlsListen: readonly ListenAddress[]
  /** Our name in the greeting. */
  readonly hostname: string
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string }
  /** `loopback` lets clients on 127.0.0.0/8 and ::1 log in without TLS. */
  readonly cleartextAuth: 'never' | 'loopback'
  readonly limits: SubmissionLimits
  readonly door: SmtpDoor
  readonly events: SubmissionEvents
  readonly clock: Clock
}

/** Who is on the line, for a log entry; never holds a password. */
export interface SessionFacts {
  readonly sessionId: string
  readonly remoteAddress: string
  readonly secure: boolean
  /** Known once the login succeeded. */
  readonly username: string | undefined
}

/** Calls are made on the hot path and must neither throw nor wait. */
export interface SubmissionEvents {
  sessionOpened(session: SessionFacts): void
  sessionClosed(session: SessionFacts): void
  /** A refusal as it went out, `550 5.7.1`; the set of codes is small, so that it may label a metric. */
  refused(code: string, session: SessionFacts): void
  /** `ms` is the time from the final dot to the durable acceptance. */
  accepted(traceId: string, ms: number, session: SessionFacts): void
  /** A connection that failed below SMTP: a broken handshake, a reset. */
  protocolError(error: Error): void
  /** Something that was not expected to be thrown; the client was told 451 4.3.0. */
  defect(error: unknown, session: SessionFacts): void
}
