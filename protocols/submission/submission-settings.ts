/** The settings of the submission server, and the events it reports for logs and metrics. */
import type { Clock } from '#core/clock.ts'
import type { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import type { SmtpDoor } from '#core/submission/doors/smtp-door.ts'
import type { ListenAddress, ListenerCertificate, ReceptionEvents, ReceptionLimits, SessionFacts } from '../reception/reception-settings.ts'

/** `maxMessageBytes` is announced before the login; a credential may have a smaller one. */
export interface SubmissionLimits extends ReceptionLimits {
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
  /** `isSelfMade`: no client can verify it, as Postern made it. */
  readonly tls: ListenerCertificate & { readonly isSelfMade?: boolean | undefined }
  /**
   * `loopback` lets clients on 127.0.0.0/8 and ::1 log in without TLS; `auto` does on listeners of these addresses, other
   * than ports 587 and 2587, as long as the certificate is self-made.
   */
  readonly cleartextAuth: 'never' | 'loopback' | 'auto'
  readonly limits: SubmissionLimits
  readonly door: SmtpDoor
  /** What recipients answer in a mail test; without it all take mail. */
  readonly recipients?: Pick<TestRecipients, 'answer'>
  readonly events: SubmissionEvents
  readonly clock: Clock
}

/** Calls are made on the hot path and must neither throw nor wait. */
export interface SubmissionEvents extends ReceptionEvents {
  /** `ms` is the time from the final dot to the durable acceptance. */
  accepted(traceId: string, ms: number, session: SessionFacts): void
}
