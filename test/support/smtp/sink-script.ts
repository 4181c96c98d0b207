/** The orders of a sink and its reports. */
import type { Socket } from 'node:net'

/** A message that was answered with a 2xx reply. */
export interface Delivery {
  /** The reverse-path, without its brackets. */
  readonly from: string
  readonly to: readonly string[]
  /** Without the doubled dots and the final one. */
  readonly content: Buffer
  /** The content in Latin-1, in which every octet is one character. */
  readonly text: string
  /** It came over TLS. */
  readonly secured: boolean
  /** Number of the connection, from 0. */
  readonly connection: number
  /** When the answer was handed to the socket, in milliseconds of `performance.now()`. */
  readonly answeredAt: number
}

export type SinkStep =
  'greeting' | 'ehlo' | 'helo' | 'starttls' | 'auth' | 'reset' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot' | 'noop' | 'quit'

/**
 * What the sink does at a step. A text is sent as it stands, with a CRLF added; `drop` closes, `reset` closes with RST,
 * `hold` waits for `release`, `endless` sends lines of a reply that never ends, `last-words` are said before closing, `only-words`
 * before silence.
 */
export type SinkAnswer =
  string | { readonly act: 'drop' | 'reset' | 'hold' | 'endless' } | { readonly act: 'last-words' | 'only-words'; readonly text: string }

/** The sink's side of a connection. */
export interface SinkSide {
  /** From 0. */
  readonly number: number
  readonly socket: Socket
}

/** Decides at every step; undefined is what a healthy server does. At `dot` the line is the content. */
export type SinkSteps = (step: SinkStep, line: string, session: SinkSide) => SinkAnswer | undefined

/** Decides by addresses and content. Every part may be left out; then the sink accepts. */
export interface SinkWords {
  /** A reply such as `553 5.7.1 not yours` refuses this reverse-path. */
  readonly sender?: (address: string) => string | undefined
  /** A reply such as `450 4.2.1 later` refuses or defers this recipient. */
  readonly recipient?: (address: string) => string | undefined
  /** Decides at the final dot; may take its time. */
  readonly message?: (from: string, to: readonly string[], content: Buffer) => SinkAnswer | undefined | Promise<SinkAnswer | undefined>
}

export type SinkScript = SinkSteps | SinkWords

/** What a session knows of its sink. */
export interface SinkHost {
  readonly options: SinkOptions
  readonly script: SinkScript
  readonly lines: string[]
  /** A step was reached, or a connection was opened or closed. */
  note(step?: SinkStep): void
  keep(delivery: Delivery): void
}

export interface SinkOptions {
  /** What EHLO offers besides the name, STARTTLS and AUTH; by default what a usual smart host does. */
  readonly offers?: readonly string[]
  readonly security?: 'tls' | 'starttls' | 'none'
  readonly certificate?: { readonly cert: string; readonly key: string }
  readonly users?: Readonly<Record<string, string>>
  /** Access tokens that XOAUTH2 takes at the moment. */
  readonly tokens?: ReadonlySet<string>
  /** Takes any CR or LF around a dot for the end of data, as careless servers do. */
  readonly lenient?: boolean
  /** Sends every reply byte by byte. */
  readonly split?: boolean
  readonly script?: SinkScript
}
