/**
 * What a report says happened to one recipient of one message after it left, in our terms, whatever format it came in.
 * Readers of formats make these; nothing here is trusted before it is attributed to a trace.
 */

/** The format an event was read from. */
export type FeedbackFormat = 'dsn' | 'arf' | 'stalwart' | 'mailenable' | 'postfix' | 'exim'

/**
 * `ignored` is shown and changes nothing: a not-spam or authentication-failure report, for example. `bounce_unparsed`: a mail came to
 * a return path and is unreadable as a report; it is shown and changes nothing either.
 */
export type FeedbackType = 'bounced' | 'deferred' | 'delivered' | 'complained' | 'bounce_unparsed' | 'ignored'

/** What may lead to the trace, as found and not yet proved; the strongest kind first. */
export interface FeedbackEvidence {
  /** Reverse-paths named anywhere in the report: one of them may be a return path of ours (VERP). */
  readonly returnPaths: readonly string[]
  /** Values of `X-Service-Ref` in the returned message. */
  readonly references: readonly string[]
  /** Values of `Original-Envelope-Id`, RFC 3464 §2.2.1. */
  readonly envelopeIds: readonly string[]
  /** Message-IDs of the returned message, with their angle brackets. */
  readonly messageIds: readonly string[]
  /** Queue ids that the next host gave when it took the message, as its reply wrote them. */
  readonly queueIds: readonly string[]
  /** Addresses in To of the returned message; they alone attribute nothing. */
  readonly originalTo: readonly string[]
  /** Subject of the message, where a log has it but no better clue. */
  readonly subject?: string | undefined
  /** Domains that a complaint about no message in particular is about. */
  readonly domains?: readonly string[] | undefined
}

export interface FeedbackEvent {
  readonly format: FeedbackFormat
  readonly type: FeedbackType
  /** The same for the same event however often, and in whatever batches, it is reported: 64 hexadecimal digits. */
  readonly key: string
  /** When it happened by the teller's clock, in milliseconds since 1970; null when it does not say. */
  readonly occurredAt: number | null
  /** The final recipient; null when the report names none. */
  readonly recipient: string | null
  /** The address that the message was sent to, where it differs from the final one. */
  readonly originalRecipient: string | null
  /** The action of RFC 3464 §2.3.3, or `complaint`; null when none is reported. */
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'complaint' | null
  /** Enhanced status code (RFC 3463), the best that the report has, such as `5.1.1`. */
  readonly status: string | null
  /** SMTP reply code. */
  readonly smtpCode: number | null
  /** The words of the server that refused, on one line, at most 2,000 characters. */
  readonly diagnostic: string | null
  readonly remoteMta: string | null
  readonly remoteIp: string | null
  readonly reportingMta: string | null
  /** The Feedback-Type of RFC 5965 §3.1 in lower case: `abuse`, `fraud`, `not-spam`, … */
  readonly feedbackType: string | null
  /** It comes from fields made for programs, not from prose: what is only prose never suppresses anybody on its own. */
  readonly isStructured: boolean
  readonly clues: FeedbackEvidence
}

/** A mail that may be a report, as read. `none` is ordinary mail. */
export interface ReportReading {
  readonly kind: 'feedback' | 'dsn' | 'mdn' | 'auto_reply' | 'none'
  /** At most 1,000. */
  readonly events: readonly FeedbackEvent[]
}

/** `hard`: the address is bad. `soft`: it may work later. `block`: the address is fine, the sender or the message was refused. */
export const bounceClasses = ['hard', 'soft', 'block'] as const
export type BounceClass = (typeof bounceClasses)[number]
