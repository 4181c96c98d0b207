/**
 * How much a destination is slowed down after its provider asked for fewer messages, as a pure state machine: nothing goes out for a
 * pause that doubles with every further such reply, then one message at a time, and every success halves the next pause.
 */

/** `until` is on the monotonic clock. */
export interface SlowDown {
  readonly pauseMs: number
  readonly until: number
}

export const fullSpeed: SlowDown = { pauseMs: 0, until: 0 }

const firstPauseMs = 5000
const longestPauseMs = 5 * 60_000
/** What a provider itself asked for may be longer, up to this. */
const longestAskedMs = 60 * 60_000

/** The provider asked for fewer messages, and perhaps for how long. What was under way with others does not count twice. */
export function afterThrottling({ pauseMs, until }: SlowDown, now: number, askedMs = 0): SlowDown {
  const isCounted = now < until
  const next = isCounted ? pauseMs : Math.min(Math.max(firstPauseMs, 2 * pauseMs), longestPauseMs)
  const end = isCounted ? until : now + next
  return { pauseMs: next, until: Math.max(end, now + Math.min(askedMs, longestAskedMs)) }
}

/** The provider took a message. */
export function afterDelivery(slowDown: SlowDown, now: number): SlowDown {
  if (slowDown.pauseMs === 0 || now < slowDown.until) return slowDown
  const half = slowDown.pauseMs / 2
  return half < firstPauseMs ? fullSpeed : { pauseMs: half, until: slowDown.until }
}
