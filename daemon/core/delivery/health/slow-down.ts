/**
 * Slow-down of a destination after its provider requested fewer messages, as a pure state machine. Each throttling reply doubles the pause
 * without deliveries. After the pause, one message is sent at a time, and every success halves the next pause.
 */

/** `until` is on the monotonic clock. */
export interface SlowDown {
  readonly pauseMs: number
  readonly until: number
}

export const fullSpeed: SlowDown = { pauseMs: 0, until: 0 }

const firstPauseMs = 5000
const longestPauseMs = 5 * 60_000
/** Maximum pause that a provider can request. */
const longestAskedMs = 60 * 60_000

/** Applies a throttling reply, optionally with a requested pause. Concurrent attempts do not count twice. */
export function afterThrottling({ pauseMs, until }: SlowDown, now: number, askedMs = 0): SlowDown {
  const isCounted = now < until
  const next = isCounted ? pauseMs : Math.min(Math.max(firstPauseMs, 2 * pauseMs), longestPauseMs)
  const end = isCounted ? until : now + next
  return { pauseMs: next, until: Math.max(end, now + Math.min(askedMs, longestAskedMs)) }
}

/** Applies a successful delivery. */
export function afterDelivery(slowDown: SlowDown, now: number): SlowDown {
  if (slowDown.pauseMs === 0 || now < slowDown.until) return slowDown
  const half = slowDown.pauseMs / 2
  return half < firstPauseMs ? fullSpeed : { pauseMs: half, until: slowDown.until }
}
