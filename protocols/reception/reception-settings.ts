/** Settings of a server that receives mail over SMTP, and its events for logs and metrics. */
import type { Server } from 'node:net'

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** Server that a start as root has already bound to the address. */
  readonly bound?: Server | undefined
}

/** The certificate of a listener, in PEM. */
export interface ListenerCertificate {
  readonly cert: string
  readonly key: string
  /** Calls `take` with each replacement of the certificate. The returned function stops the calls. */
  onChange?(take: (pair: { readonly cert: string; readonly key: string }) => void): () => void
}

export interface ReceptionLimits {
  /** Message size that EHLO announces (RFC 1870). */
  readonly maxMessageBytes: number
  readonly maxRecipients: number
  /** Open connections of all listeners in total. */
  readonly maxConnections: number
  /** Open connections of one IPv4 address or one IPv6 /64 network. */
  readonly maxConnectionsPerAddress: number
  /** Maximum time between messages without an accepted one. */
  readonly sessionMs: number
  /** Maximum time to wait for input of the client. */
  readonly idleMs: number
}

/** Identifies a session in a log entry. It never contains a password. */
export interface SessionFacts {
  readonly sessionId: string
  readonly remoteAddress: string
  readonly secure: boolean
  /** Set after a successful login. */
  readonly username: string | undefined
  /** Before a login: the user name of the last attempt, cut to 64 characters. */
  readonly triedUsername?: string | undefined
}

/** Events of a server. Handlers are on the hot path and must neither throw nor block. */
export interface ReceptionEvents {
  sessionOpened(session: SessionFacts): void
  sessionClosed(session: SessionFacts): void
  /**
   * A refusal that was sent, such as `550 5.7.1`. The set of codes is small enough for a metric label. `words`: the text after the codes.
   */
  refused(code: string, session: SessionFacts, text: string): void
  /** A connection failed below SMTP, for example by a broken handshake or a reset. */
  protocolError(error: Error): void
  /** An unexpected error. The client received 451 4.3.0. */
  defect(error: unknown, session: SessionFacts): void
}
