/** The origin of feedback events, the trust in it, and the outcome of each event. */
import type { Change } from '#store/change.ts'
import type { BounceClass, FeedbackEvent } from './event.ts'

export interface FeedbackOrigin {
  /** Limits events to traces of this organization. Null at the bounce domain, where the return path is the proof. */
  readonly organizationId: string | null
  /** The ingest source of the report; null at the bounce domain. */
  readonly sourceId: string | null
  /**
   * `signed`: posted with the secret of the source. `mailbox`: mail in a polled mailbox, which anybody can send. `bounce_domain`: mail to
   * our return path, which anybody can send too.
   */
  readonly channel: 'signed' | 'mailbox' | 'bounce_domain'
  /** At the bounce domain, the envelope recipient of the mail. It determines the recipient, regardless of the report's content. */
  readonly returnPath?: string | undefined
  /** False for a mail with a non-null reverse-path. Such a mail suppresses only if it contains a structured report. */
  readonly hasNullSender?: boolean | undefined
  /** Limits events to traces of these projects and this destination, for mapped postoffices. */
  readonly projectIds?: readonly string[] | undefined
  readonly destinationId?: string | undefined
  /** The original mail, stored with the trace; only its first 64 KiB are stored. */
  readonly raw?: Uint8Array | undefined
}

/** `unmatched`: no trace matches. If one may match soon, the event is retried for 15 minutes. */
export type FeedbackResult = 'recorded' | 'duplicate' | 'unmatched' | 'ignored'

export interface FeedbackOutcome {
  readonly event: FeedbackEvent
  readonly result: FeedbackResult
  readonly traceId: string | null
  readonly projectId: string | null
  /** Recipient of the reported message, as in its envelope; null if unknown. */
  readonly recipient: string | null
  readonly bounce: BounceClass | null
  /** The event is unverified: it is shown in the trace and changes nothing. */
  readonly isUnverified: boolean
  /** The event added the recipient to the suppression list. */
  readonly suppressed: boolean
}

export interface FeedbackTaker {
  /**
   * Records events. Returns one outcome per event, in order, after all writes are durable. `also` adds to the last write, which is
   * committed even if no event changes anything. It is called again if that write is retried. Repeated events add nothing.
   */
  take(origin: FeedbackOrigin, events: readonly FeedbackEvent[], also?: (change: Change) => void): Promise<readonly FeedbackOutcome[]>
}
