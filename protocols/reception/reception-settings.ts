/** The settings of a server that takes in mail over SMTP, and the events it reports for logs and metrics. */
import type { Server } from 'node:net'

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** Bound there already, by a start as root: it is taken over. */
  readonly bound?: Server | undefined
}

/** The certificate of a listener, in PEM. */
export interface ListenerCertificate {
  readonly cert: string
  readonly key: string
  /** Calls with each certificate that takes the place of another, until the returned function is called. */
  onChange?(take: (pair: { readonly cert: string; readonly key: string }) => void): () => void
}

export interface ReceptionLimits {
  /** RFC 1870 size announced in EHLO. */
  readonly maxMessageBytes: number
  readonly maxRecipients: number
  /** Open connections of all listeners together. */
  readonly maxConnections: number
  /** Open connections of one IPv4 address or one IPv6 /64 network. */
  readonly maxConnectionsPerAddress: number
  /** The longest time between messages without one that is taken. */
  readonly sessionMs: number
  /** The longest silence of a client that owes us input. */
  readonly idleMs: number
}

/** Who is on the line, for a log entry; never holds a password. */
export interface SessionFacts {
  readonly sessionId: string
  readonly remoteAddress: string
  readonly secure: boolean
  /** Known once a login succeeded. */
  readonly username: string | undefined
  /** Before login: the user name of the last login that was tried, cut to 64 characters. */
  readonly triedUsername?: string | undefined
}

/** Calls are made on the hot path and must neither throw nor wait. */
export interface ReceptionEvents {
  sessionOpened(session: SessionFacts): void
  sessionClosed(session: SessionFacts): void
  /** A refusal as it went out, `550 5.7.1`; the set of codes is small, so that it may label a metric. `words` follow the codes. */
  refused(code: string, session: SessionFacts, words: string): void
  /** A connection that failed below SMTP: a broken handshake, a reset. */
  protocolError(error: Error): void
  /** An unexpected error; the client got 451 4.3.0. */
  defect(error: unknown, session: SessionFacts): void
}
