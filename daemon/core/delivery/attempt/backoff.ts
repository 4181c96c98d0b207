/** Schedule of retries. RFC 5321 §4.5.4.1 requires patience and a give-up time; jitter spreads the retries of many messages. */
export interface RetryPolicy {
  /** Milliseconds to wait after attempt 1, 2, …; the last value repeats. */
  readonly delaysMs: readonly number[]
  /** Maximum age of a message for a retry. */
  readonly maxAgeMs: number
  /** Relative variation of a delay in either direction. After an unknown outcome, the delay only becomes longer. */
  readonly jitter: number
  /** Minimum delay after an attempt with an unknown outcome. */
  readonly unknownDelayMs: number
}

/** Default configuration: retries after 1, 5, 15 and 30 minutes, 1 and 2 hours, then every 4 hours for 48 hours. */
export const defaultRetryPolicy: RetryPolicy = {
  delaysMs: [60, 300, 900, 1800, 3600, 7200, 14_400].map((seconds) => seconds * 1000),
  maxAgeMs: 48 * 3600 * 1000,
  jitter: 0.2,
  unknownDelayMs: 15 * 60 * 1000,
}

/** Returns the time of the next attempt, or undefined if the message is too old. `random` is in [0, 1). */
export function nextAttempt(
  policy: RetryPolicy,
  message: {
    readonly createdAt: number
    readonly attempts: number
    readonly unknown: boolean
    /** Earliest time that the provider requested. */ readonly notBefore?: number
  },
  now: number,
  random: number,
): number | undefined {
  const delay = policy.delaysMs[Math.min(message.attempts, policy.delaysMs.length) - 1] ?? policy.unknownDelayMs
  const wait = Math.max(delay, message.unknown ? policy.unknownDelayMs : 0)
  // after an unknown outcome no retry comes early, because the peer may still process the message
  const variation = message.unknown ? random : 2 * random - 1
  const due = Math.max(Math.round(now + wait * (1 + policy.jitter * variation)), message.notBefore ?? 0)
  return due - message.createdAt > policy.maxAgeMs ? undefined : due
}
