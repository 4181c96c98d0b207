/** Where feedback comes from, how far it is trusted, and its outcome. */
import type { Change } from '#store/change.ts'
import type { BounceClass, FeedbackEvent } from './event.ts'

export interface FeedbackOrigin {
  /** Traces of this organization alone are touched; null where the return path itself is the proof (the bounce domain). */
  readonly organizationId: string | null
  /** The ingest source that reported it; null at the bounce domain. */
  readonly sourceId: string | null
  /**
   * `signed`: posted with the source's secret. `mailbox`: mail that anybody could have sent there. `bounce_domain`: mail to a
   * return path of ours, likewise.
   */
  readonly channel: 'signed' | 'mailbox' | 'bounce_domain'
  /** At the bounce domain, the address that the mail was sent to. It decides the recipient, whatever the report says. */
  readonly returnPath?: string | undefined
  /** False for a mail whose reverse-path was not null: it suppresses only with a report made for programs. */
  readonly hasNullSender?: boolean | undefined
  /** Only traces of these projects, and of this destination; for postoffices that are mapped to them. */
  readonly projectIds?: readonly string[] | undefined
  readonly destinationId?: string | undefined
  /** The mail as it came, to be kept with the trace; the first 64 KiB of it. */
  readonly raw?: Uint8Array | undefined
}

/** `unmatched`: no trace fits. Where one may fit soon, it is tried again for 15 minutes. */
export type FeedbackResult = 'recorded' | 'duplicate' | 'unmatched' | 'ignored'

export interface FeedbackOutcome {
  readonly event: FeedbackEvent
  readonly result: FeedbackResult
  readonly traceId: string | null
  readonly projectId: string | null
  /** The recipient as the message was addressed; null when unknown. */
  readonly recipient: string | null
  readonly bounce: BounceClass | null
  /** It was shown in the trace and changed nothing, as it is unverified. */
  readonly isUnverified: boolean
  /** The recipient went on the suppression list because of it. */
  readonly suppressed: boolean
}

/** Takes feedback in. Implemented by `Feedback`. */
export interface FeedbackTaker {
  /**
   * One outcome for each event, in order. Resolves when everything is durable. `also` adds to the last write, which is made even
   * when no event changes anything; it can be called again when that write is tried again. Taking the same events again adds nothing.
   */
  take(origin: FeedbackOrigin, events: readonly FeedbackEvent[], also?: (change: Change) => void): Promise<readonly FeedbackOutcome[]>
}
