/** What a sink is told to do and what it reports. */

/** A message that was answered with 250. */
export interface Delivery {
  readonly from: string
  readonly to: readonly string[]
  readonly content: Buffer
  /** When the answer was handed to the socket, in milliseconds of `performance.now()`. */
  readonly answeredAt: number
}

/** What to do after the final dot: answer with this reply, or close the connection without any. */
export type Verdict = { readonly reply: string } | 'drop'

/** The script. Every part may be left out; then the sink accepts. */
export interface SinkScript {
  /** Replies to EHLO besides the name; by default what a usual smart host offers. */
  readonly extensions?: readonly string[]
  /** A reply such as `553 5.7.1 not yours` refuses this reverse-path. */
  readonly sender?: (address: string) => string | undefined
  /** A reply such as `450 4.2.1 later` refuses or defers this recipient. */
  readonly recipient?: (address: string) => string | undefined
  /** Decides at the final dot; may take its time. */
  readonly message?: (from: string, to: readonly string[], content: Buffer) => Verdict | undefined | Promise<Verdict | undefined>
}
