/** Settings of the submission server, and its events for logs and metrics. */
import type { Clock } from '#core/clock.ts'
import type { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import type { SmtpDoor } from '#core/submission/doors/smtp-door.ts'
import type { ListenAddress, ListenerCertificate, ReceptionEvents, ReceptionLimits, SessionFacts } from '../reception/reception-settings.ts'

/** `maxMessageBytes` is announced before the login. The limit of a credential may be smaller. */
export interface SubmissionLimits extends ReceptionLimits {
  /** The session ends with 421 at this number of failed logins. */
  readonly authFailuresPerSession: number
}

export interface SubmissionOptions {
  /** Listeners that start in clear text and offer STARTTLS (RFC 6409 §3.1, RFC 3207). */
  readonly listen: readonly ListenAddress[]
  /** Listeners with implicit TLS (RFC 8314 §3.3). */
  readonly tlsListen: readonly ListenAddress[]
  /** Host name in the greeting. */
  readonly hostname: string
  /** `isSelfMade`: Postern created the certificate, so clients cannot verify it. */
  readonly tls: ListenerCertificate & { readonly isSelfMade?: boolean | undefined }
  /**
   * Clients that may log in without TLS.
   * - `never`: no clients.
   * - `loopback`: clients on 127.0.0.0/8 and ::1.
   * - `auto`: the same clients, but only on loopback listeners with ports other than 587 and 2587, and only with a self-made certificate.
   */
  readonly cleartextAuth: 'never' | 'loopback' | 'auto'
  readonly limits: SubmissionLimits
  readonly door: SmtpDoor
  /** Replies of simulated recipients in a mail test. Without it, all recipients are accepted. */
  readonly recipients?: Pick<TestRecipients, 'answer'>
  readonly events: SubmissionEvents
  readonly clock: Clock
}

/** Events of the server. Handlers are on the hot path and must neither throw nor block. */
export interface SubmissionEvents extends ReceptionEvents {
  /** `ms`: time from the final dot to the durable acceptance. */
  accepted(traceId: string, ms: number, session: SessionFacts): void
}
