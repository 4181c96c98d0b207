/** What is under way at one destination, and what its limits still allow: connections, rate and circuit breaker. */

/** What the queue must know of a destination. */
export interface DeliveryLimits {
  readonly maxConnections: number
  readonly maxRatePerMin: number | null
  readonly breaker?: BreakerGate
}

/** What a circuit breaker lets through: nothing for `pauseMs`, one attempt at a time while on trial, otherwise everything. */
export interface BreakerGate {
  readonly pauseMs: number
  readonly onTrial: boolean
}

/** While one message waits for the provider's word, the next one can already ride behind it on the same connection. */
const attemptsPerConnection = 2

export class DestinationLoad {
  readonly destinationId: string
  /** Attempts under way. */
  active = 0
  /** Projects that have something queued here. */
  projects = 0
  /** The rate limit or the breaker lets nothing begin until a timer has run. */
  resting = false
  /** Called with true when a further copy of a message under way may begin, with false when none may. */
  readonly copies: ((mayBegin: boolean) => void)[] = []
  /** After a rest copies and messages go first in turn. */
  isCopysTurn = false
  /** As they were when last looked at; undefined before the first attempt. */
  limits: DeliveryLimits | undefined
  /** When a message or a copy was last begun, on the monotonic clock. */
  #begunMs = -Infinity

  constructor(destinationId: string) {
    this.destinationId = destinationId
  }

  /** Concurrent attempts allowed. Until the limits are known, one attempt finds them out; the same holds for the trial of a breaker. */
  get width(): number {
    if (this.limits === undefined || this.pauseMs > 0 || this.limits.breaker?.onTrial) return 1
    return this.limits.maxConnections * attemptsPerConnection
  }

  get hasRoom(): boolean {
    return !this.resting && this.active < this.width
  }

  /** What the breaker had left of its pause when last looked at, in milliseconds. */
  get pauseMs(): number {
    return this.limits?.breaker?.pauseMs ?? 0
  }

  /** Milliseconds until the rate limit allows the next attempt. */
  restMs(monotonicMs: number): number {
    const rate = this.limits?.maxRatePerMin ?? null
    return rate === null ? 0 : Math.max(0, Math.ceil(this.#begunMs + 60_000 / rate - monotonicMs))
  }

  /** An attempt begins. */
  begin(monotonicMs: number): void {
    this.active++
    this.takeAllowance(monotonicMs)
  }

  /** Uses up the allowance of the rate limit for one message or copy. */
  takeAllowance(monotonicMs: number): void {
    this.#begunMs = monotonicMs
  }
}
