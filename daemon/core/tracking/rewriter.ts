/** Rewrites a message so that openings and clicks are seen. The work is done outside the main thread, with a limit on time and memory. */
import type { UntrackedReason } from '../trace/trace-tracking.ts'

/** What goes into the message. */
export interface TrackingAddresses {
  /** Links to this address and below stay as they are; without a slash at the end. */
  readonly ownUrl: string
  /** The address in place of a link to `target`, an absolute http or https URL; links count from 1. Undefined leaves the link alone. */
  readonly linkFor: ((link: number, target: string) => string) | undefined
  /** Address of the image; undefined for none. */
  readonly pixel: string | undefined
}

export type Rewritten =
  | { readonly ok: true; readonly content: Uint8Array; readonly links: number }
  /** The message is to go as it is. */
  | { readonly ok: false; readonly reason: UntrackedReason }

/** A message that may have to wait for its turn, and is not in memory until then. */
export interface MessageSource {
  /** Organizations take turns. */
  readonly organizationId: string
  /** Octets. */
  readonly size: number
  /** The whole message in memory of its own, which is handed on to another thread; may be asked for again. */
  read(): Promise<Uint8Array<ArrayBuffer>>
}

export interface MessageRewriter extends AsyncDisposable {
  /** Throws what the source throws, and nothing else. */
  rewrite(message: MessageSource, addresses: TrackingAddresses): Promise<Rewritten>
}
