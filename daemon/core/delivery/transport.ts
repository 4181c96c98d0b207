/**
 * The seam between the queue and the network: one delivery attempt of one message to one provider.
 * The queue decides when and what; a transport only carries out and reports what it saw.
 */

import type { HttpProvider } from '#config/mail/providers.ts'
import type { OAuth2Grant } from '../routing/destinations/oauth2.ts'
import type { AttemptError, PeerReply, RecipientReport } from '../trace/attempt-record.ts'

export type { AttemptError, PeerReply, RecipientReport, RecipientVerdict } from '../trace/attempt-record.ts'

/** Where to deliver, with its secrets opened; made from a destination record just before the attempt. */
export type TransportTarget = SmtpTarget | HttpTarget

interface AnyTarget {
  readonly destinationId: string
  /** Changes whenever the destination's settings change, so that connections under old settings are not reused. */
  readonly revision: string
  /** At most this many connections at a time. */
  readonly maxConnections: number
}

export interface SmtpTarget extends AnyTarget {
  readonly provider: 'smtp'
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Signs in with access tokens had by this, in place of a password. */
  readonly oauth2?: OAuth2Grant | undefined
  /** `verify` (default): the certificate must be valid for the host; `insecure`: any certificate is taken. */
  readonly tlsPolicy: 'verify' | 'insecure'
}

export interface HttpTarget extends AnyTarget {
  readonly provider: HttpProvider
  /** Origin in place of the provider's own. */
  readonly baseUrl: string | undefined
  /** By the provider's names, secrets among them. */
  readonly credentials: Readonly<Record<string, string>>
  /** Those of the credentials that must not be shown anywhere. */
  readonly secrets: readonly string[]
}

/** One delivery attempt. The recipients are those that are still to be reached. */
export interface DeliveryJob {
  readonly traceId: string
  /** Organizations take turns where messages must be taken apart. */
  readonly organizationId?: string | undefined
  /** RFC 5321 §2.3.1 envelope; the empty string is the null reverse-path. */
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  /** Names the message in delivery status notifications, printable ASCII of at most 100 octets (RFC 3461 §4.4). */
  readonly envelopeId?: string | undefined
  /** Bytes over 127 occur in the content: BODY=8BITMIME is asked for where the peer offers it (RFC 6152). */
  readonly eightBit: boolean
  /** The headers need RFC 6531; addresses with a non-ASCII local part imply it. */
  readonly smtputf8: boolean
  /** Octets of the content as it will be sent, before dot-stuffing. */
  readonly size: number
  /** The message in order, CRLF lines only. Called once per attempt. */
  content(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /**
   * Resolves when the start of this attempt is durable. It must be awaited after the peer agreed to take data and
   * before the final dot is written, so that a crash after the dot is known to be `unknown`. A transport that needs several
   * requests awaits it before the end of each, with the word of recipients since the call before, and `unknown` for those whom
   * this request is for.
   */
  readonly beforeFinalDot: (known?: readonly RecipientReport[]) => Promise<void>
  readonly signal: AbortSignal
}

/** What a transport saw. Every recipient of the job has exactly one report. */
export interface AttemptReport {
  readonly recipients: readonly RecipientReport[]
  /** What was spoken to, filled in by whoever asked. */
  readonly provider?: string | undefined
  readonly host: string
  readonly port: number
  /** The address that was connected to. */
  readonly address?: string | undefined
  readonly tls?: { readonly version: string; readonly cipher: string; readonly verified: boolean } | undefined
  /** The connection had been used before. */
  readonly reused: boolean
  readonly error?: AttemptError | undefined
  /** The provider wants no further attempt before so many seconds have passed. */
  readonly retryAfterSeconds?: number | undefined
  /** Of a round of copies: the provider refused the return paths of VERP, and got the plain reverse-path instead. */
  readonly verpRefusal?: PeerReply | undefined
  /** Milliseconds by phase and in all. */
  readonly milliseconds: Readonly<Record<string, number>>
}

/** One step of a connection test, for people. */
export interface ProbeStep {
  readonly step: string
  readonly ok: boolean
  readonly detail: string
  readonly milliseconds: number
  /** Of a failed step: what failed, by the name that attempts have for it. */
  readonly code?: string | undefined
}

/** Speaks to one kind of provider. Never throws for what the outside does: that is a report. */
export interface Transport<Target extends TransportTarget = TransportTarget> extends AsyncDisposable {
  deliver(target: Target, job: DeliveryJob): Promise<AttemptReport>
  /** Connects, negotiates TLS and authenticates without sending a message. `seen` is called with each step when it has ended. */
  probe(target: Target, signal: AbortSignal, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]>
  /** Drops idle connections of a destination that changed or went away. */
  forget(destinationId: string): void
}
