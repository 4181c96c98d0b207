/** The script of a sink and its reports. */
import type { Socket } from 'node:net'

/** A message with a 2xx reply. */
export interface Delivery {
  /** The reverse-path, without its brackets. */
  readonly from: string
  readonly to: readonly string[]
  /** Without dot-stuffing and the final dot. */
  readonly content: Buffer
  /** The content in Latin-1: each octet is one character. */
  readonly text: string
  /** Whether it arrived over TLS. */
  readonly secured: boolean
  /** Number of the connection, from 0. */
  readonly connection: number
  /** When the reply was written to the socket, in milliseconds of `performance.now()`. */
  readonly answeredAt: number
}

export type SinkStep =
  'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth' | 'reset' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot' | 'noop' | 'quit'

/**
 * The action of the sink at a step. A text is sent unchanged with CRLF; `drop` closes, `reset` closes with RST, `hold` waits for `release`.
 * `endless` sends lines of a reply that never ends, `last-words` sends a text before closing, `only-words` before silence.
 */
export type SinkAnswer =
  string | { readonly act: 'drop' | 'reset' | 'hold' | 'endless' } | { readonly act: 'last-words' | 'only-words'; readonly text: string }

/** The sink's side of a connection. */
export interface SinkSide {
  /** From 0. */
  readonly number: number
  readonly socket: Socket
}

/** Decides at every step; undefined means the reply of a healthy server. At `dot` the line is the content. */
export type SinkSteps = (step: SinkStep, line: string, session: SinkSide) => SinkAnswer | undefined

/** Decides by addresses and content. Every part is optional; by default the sink accepts. */
export interface SinkRules {
  /** A reply such as `553 5.7.1 not yours` refuses this reverse-path. */
  readonly sender?: (address: string) => string | undefined
  /** A reply such as `450 4.2.1 later` refuses or defers this recipient. */
  readonly recipient?: (address: string) => string | undefined
  /** Decides at the final dot, possibly later. */
  readonly message?: (from: string, to: readonly string[], content: Buffer) => SinkAnswer | undefined | Promise<SinkAnswer | undefined>
}

export type SinkScript = SinkSteps | SinkRules

/** The sink as a session sees it. */
export interface SinkHost {
  readonly options: SinkOptions
  readonly script: SinkScript
  readonly lines: string[]
  /** A step was reached, or a connection was opened or closed. */
  note(step?: SinkStep): void
  keep(delivery: Delivery): void
}

export interface SinkOptions {
  /** EHLO keywords in addition to STARTTLS and AUTH; by default those of a usual smart host. */
  readonly offers?: readonly string[]
  readonly security?: 'tls' | 'starttls' | 'none'
  readonly certificate?: { readonly cert: string; readonly key: string }
  readonly users?: Readonly<Record<string, string>>
  /** Access tokens that XOAUTH2 accepts at present. */
  readonly tokens?: ReadonlySet<string>
  /** Accepts any CR or LF around a dot as the end of data, like lenient servers. */
  readonly lenient?: boolean
  /** Sends every reply byte by byte. */
  readonly split?: boolean
  readonly script?: SinkScript
}
