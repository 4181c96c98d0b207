/** When to try again. RFC 5321 §4.5.4.1 asks for patience and a give-up time; jitter keeps retries of many messages apart. */
export interface RetryPolicy {
  /** Milliseconds to wait after attempt 1, 2, …; the last one repeats. */
  readonly delaysMs: readonly number[]
  /** Nothing is tried again once the message is this old. */
  readonly maxAgeMs: number
  /** Share by which a delay is varied either way; after an unknown outcome, only made longer. */
  readonly jitter: number
  /** The shortest wait before an attempt with unknown outcome is repeated. */
  readonly unknownDelayMs: number
}

/** The defaults of the configuration: after 1, 5, 15 and 30 minutes, 1 and 2 hours, and then every 4 hours, for 48 hours. */
export const defaultRetryPolicy: RetryPolicy = {
  delaysMs: [60, 300, 900, 1800, 3600, 7200, 14_400].map((seconds) => seconds * 1000),
  maxAgeMs: 48 * 3600 * 1000,
  jitter: 0.2,
  unknownDelayMs: 15 * 60 * 1000,
}

/** The time of the next attempt, or undefined when the message is too old for one. `random` is in [0, 1). */
export function nextAttempt(
  policy: RetryPolicy,
  message: {
    readonly createdAt: number
    readonly attempts: number
    readonly unknown: boolean
    /** What the provider asked for. */ readonly notBefore?: number
  },
  now: number,
  random: number,
): number | undefined {
  const delay = policy.delaysMs[Math.min(message.attempts, policy.delaysMs.length) - 1] ?? policy.unknownDelayMs
  const wait = Math.max(delay, message.unknown ? policy.unknownDelayMs : 0)
  // the peer may still be busy with the message: after an unknown outcome no retry comes early
  const variation = message.unknown ? random : 2 * random - 1
  const due = Math.max(Math.round(now + wait * (1 + policy.jitter * variation)), message.notBefore ?? 0)
  return due - message.createdAt > policy.maxAgeMs ? undefined : due
}
