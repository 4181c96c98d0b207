/**
 * The format-independent form of a report about one recipient of one message. Format readers produce these events. Their content is not
 * trusted until an event is attributed to a trace.
 */

/** The source format of an event. */
export type FeedbackFormat = 'dsn' | 'arf' | 'stalwart' | 'mailenable' | 'postfix' | 'exim'

/**
 * The kind of an event. `ignored` is shown and changes nothing, such as a not-spam or authentication-failure report. `bounce_unparsed` is a
 * mail to a return path that cannot be parsed as a report; it also changes nothing.
 */
export type FeedbackType = 'bounced' | 'deferred' | 'delivered' | 'complained' | 'bounce_unparsed' | 'ignored'

/** Unverified clues that may identify the trace, strongest kind first. */
export interface FeedbackEvidence {
  /** Reverse-paths anywhere in the report; one of them may be our return path (VERP). */
  readonly returnPaths: readonly string[]
  /** Values of `X-Service-Ref` in the returned message. */
  readonly references: readonly string[]
  /** Values of `Original-Envelope-Id` (RFC 3464 §2.2.1). */
  readonly envelopeIds: readonly string[]
  /** Message-IDs of the returned message, with their angle brackets. */
  readonly messageIds: readonly string[]
  /** Queue ids from the next host's reply, as written there. */
  readonly queueIds: readonly string[]
  /** Addresses in To of the returned message. They never identify a message without another clue. */
  readonly originalTo: readonly string[]
  /** Subject of the message, from logs that have no stronger clue. */
  readonly subject?: string | undefined
  /** Domains in a complaint that does not identify a message. */
  readonly domains?: readonly string[] | undefined
}

export interface FeedbackEvent {
  readonly format: FeedbackFormat
  readonly type: FeedbackType
  /** Identifies the event: 64 hexadecimal digits, equal for every repetition of the event in any batch. */
  readonly key: string
  /** Time of the event by the reporter's clock, in milliseconds since the epoch; null if the report has no time. */
  readonly occurredAt: number | null
  /** The final recipient; null if the report names none. */
  readonly recipient: string | null
  /** The address that the message was sent to, if it differs from the final address. */
  readonly originalRecipient: string | null
  /** The action of RFC 3464 §2.3.3, or `complaint`; null if the report has no action. */
  readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | 'complaint' | null
  /** Enhanced status code (RFC 3463), such as `5.1.1`: the most specific code in the report. */
  readonly status: string | null
  readonly smtpCode: number | null
  /** Reply text of the refusing server on one line, at most 2,000 characters. */
  readonly diagnostic: string | null
  readonly remoteMta: string | null
  readonly remoteIp: string | null
  readonly reportingMta: string | null
  /** The Feedback-Type of RFC 5965 §3.1 in lower case: `abuse`, `fraud`, `not-spam`, … */
  readonly feedbackType: string | null
  /** The event comes from fields for programs. Events read only from prose never suppress a recipient by themselves. */
  readonly isStructured: boolean
  readonly clues: FeedbackEvidence
}

/** The parsed form of a mail that may be a report. `none` is ordinary mail. */
export interface ReportReading {
  readonly kind: 'feedback' | 'dsn' | 'mdn' | 'auto_reply' | 'none'
  /** At most 1,000. */
  readonly events: readonly FeedbackEvent[]
}

/**
 * Bounce classes. `hard`: the address is invalid. `soft`: a later attempt may succeed. `block`: the sender or the message was refused, not
 * the address.
 */
export const bounceClasses = ['hard', 'soft', 'block'] as const
export type BounceClass = (typeof bounceClasses)[number]
