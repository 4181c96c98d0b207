/**
 * Interface between queue and network: one delivery attempt of one message at one provider. The queue decides about time and destination; a
 * transport runs the attempt and reports its result.
 */

import type { HttpProvider } from '#config/mail/providers.ts'
import type { OAuth2Grant } from '../routing/destinations/oauth2.ts'
import type { AttemptError, PeerReply, RecipientReport } from '../trace/attempt-record.ts'

export type { AttemptError, PeerReply, RecipientReport, RecipientVerdict } from '../trace/attempt-record.ts'

/** Delivery target with decrypted secrets, created from a destination just before the attempt. */
export type TransportTarget = SmtpTarget | HttpTarget

interface AnyTarget {
  readonly destinationId: string
  /** Changes with every change of the destination's settings, so that connections with old settings are not reused. */
  readonly revision: string
  /** Maximum number of concurrent connections. */
  readonly maxConnections: number
}

export interface SmtpTarget extends AnyTarget {
  readonly provider: 'smtp'
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Grant for access tokens, used instead of a password. */
  readonly oauth2?: OAuth2Grant | undefined
  /** `verify` (default): the certificate must be valid for the host. `insecure`: any certificate is accepted. */
  readonly tlsPolicy: 'verify' | 'insecure'
}

export interface HttpTarget extends AnyTarget {
  readonly provider: HttpProvider
  /** Replaces the provider's origin. */
  readonly baseUrl: string | undefined
  /** Credentials by the provider's names, including secrets. */
  readonly credentials: Readonly<Record<string, string>>
  /** Values of the credentials to redact everywhere. */
  readonly secrets: readonly string[]
}

/** One delivery attempt. The recipients are those still to be reached. */
export interface DeliveryJob {
  readonly traceId: string
  /** Organization of the message. Transports that parse messages share their processing time fairly between organizations. */
  readonly organizationId?: string | undefined
  /** RFC 5321 §2.3.1 envelope; the empty string is the null reverse-path. */
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  /** Identifies the message in delivery status notifications; printable ASCII of at most 100 octets (RFC 3461 §4.4). */
  readonly envelopeId?: string | undefined
  /** The content contains octets over 127. BODY=8BITMIME is requested if the peer offers it (RFC 6152). */
  readonly eightBit: boolean
  /** The headers require RFC 6531; addresses with a non-ASCII local part imply it. */
  readonly smtputf8: boolean
  /** Octets of the outgoing content, before dot-stuffing. */
  readonly size: number
  /** Returns the message in order, with CRLF lines only. Called once per attempt. */
  content(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /**
   * Resolves when the start of this attempt is durable. Await it after the peer has agreed to receive data and before writing the final
   * dot, so that a crash after the dot is recorded as `unknown`. A transport with several requests awaits it before the end of each
   * request. It passes the results since the previous call, and `unknown` for the recipients of the current request.
   */
  readonly beforeFinalDot: (known?: readonly RecipientReport[]) => Promise<void>
  readonly signal: AbortSignal
}

/** Result of an attempt. Contains exactly one report for each recipient of the job. */
export interface AttemptReport {
  readonly recipients: readonly RecipientReport[]
  /** Provider of the destination. The caller of the transport sets it. */
  readonly provider?: string | undefined
  readonly host: string
  readonly port: number
  /** Address of the connected peer. */
  readonly address?: string | undefined
  readonly tls?: { readonly version: string; readonly cipher: string; readonly verified: boolean } | undefined
  /** True if the connection was reused. */
  readonly reused: boolean
  readonly error?: AttemptError | undefined
  /** The provider requests no further attempt for this number of seconds. */
  readonly retryAfterSeconds?: number | undefined
  /** Set in a round of copies if the provider refused the VERP return paths and received the plain reverse-path instead. */
  readonly verpRefusal?: PeerReply | undefined
  /** Milliseconds by phase, and `total`. */
  readonly milliseconds: Readonly<Record<string, number>>
}

/** One step of a connection test, for people. */
export interface ProbeStep {
  readonly step: string
  readonly ok: boolean
  readonly detail: string
  readonly milliseconds: number
  /** Error code of a failed step, as in attempts. */
  readonly code?: string | undefined
  /** Reply of the host that is the reason of a failed step, with its code, without secrets. */
  readonly reply?: string | undefined
  /** Host names of the certificate, if it is for another host. */
  readonly certificateNames?: readonly string[] | undefined
}

/** Delivers to one kind of provider. Never throws for network or provider errors; they are part of the report. */
export interface Transport<Target extends TransportTarget = TransportTarget> extends AsyncDisposable {
  deliver(target: Target, job: DeliveryJob): Promise<AttemptReport>
  /** Connects, negotiates TLS and authenticates without sending a message. Calls `seen` after each step. */
  probe(target: Target, signal: AbortSignal, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]>
  /** Closes idle connections of a changed or deleted destination. */
  forget(destinationId: string): void
}
