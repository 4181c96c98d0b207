/** Rewrites a message to track opens and clicks. Runs outside the main thread with limits on time and memory. */
import type { UntrackedReason } from '../trace/trace-tracking.ts'

/** URLs inserted into the message. */
export interface TrackingAddresses {
  /** Links with this prefix are not rewritten; without a trailing slash. */
  readonly ownUrl: string
  /**
   * Returns the replacement of a link to `target`, an absolute http or https URL. Links are numbered from 1. Undefined leaves links
   * unchanged.
   */
  readonly linkFor: ((link: number, target: string) => string) | undefined
  /** URL of the tracking image; undefined without one. */
  readonly pixel: string | undefined
}

export type Rewritten =
  | { readonly ok: true; readonly content: Uint8Array; readonly links: number }
  /** The message is sent unchanged. */
  | { readonly ok: false; readonly reason: UntrackedReason }

/** A message that is read only when its turn comes, to limit memory. */
export interface MessageSource {
  /** Organizations take turns. */
  readonly organizationId: string
  /** Size in octets. */
  readonly size: number
  /** Returns the whole message in a new buffer, which is transferred to another thread. Can be called repeatedly. */
  read(): Promise<Uint8Array<ArrayBuffer>>
}

export interface MessageRewriter extends AsyncDisposable {
  /** Throws only the errors of the source. */
  rewrite(message: MessageSource, addresses: TrackingAddresses): Promise<Rewritten>
}
