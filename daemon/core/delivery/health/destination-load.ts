/** Attempts in flight at one destination, and the room that its limits leave: connections, rate and circuit breaker. */

/** Limits of a destination. */
export interface DeliveryLimits {
  readonly maxConnections: number
  readonly maxRatePerMin: number | null
  readonly breaker?: BreakerGate
}

/** State of a circuit breaker: allows nothing for `pauseMs`, one attempt at a time on trial, otherwise everything. */
export interface BreakerGate {
  readonly pauseMs: number
  readonly onTrial: boolean
}

/** While one message waits for the reply, the next message can be pipelined on the same connection. */
const attemptsPerConnection = 2

export class DestinationLoad {
  readonly destinationId: string
  /** Attempts in flight. */
  active = 0
  /** Projects with entries queued here. */
  projects = 0
  /** True while the rate limit or the breaker blocks new attempts until a timer ends. */
  resting = false
  /** Called with true when a further copy of a message may begin, or with false if the queue stops. */
  readonly copies: ((mayBegin: boolean) => void)[] = []
  /** After each rest, copies and messages alternate in going first. */
  isCopysTurn = false
  /** Limits at the last check; undefined before the first attempt. */
  limits: DeliveryLimits | undefined
  /** Start of the last message or copy, on the monotonic clock. */
  #begunMs = -Infinity

  constructor(destinationId: string) {
    this.destinationId = destinationId
  }

  /**
   * Maximum concurrent attempts. One while the limits are unknown, because the first attempt loads them, and one during a breaker's trial.
   */
  get width(): number {
    if (this.limits === undefined || this.pauseMs > 0 || this.limits.breaker?.onTrial) return 1
    return this.limits.maxConnections * attemptsPerConnection
  }

  get hasRoom(): boolean {
    return !this.resting && this.active < this.width
  }

  /** Remaining pause of the breaker at the last check, in milliseconds. */
  get pauseMs(): number {
    return this.limits?.breaker?.pauseMs ?? 0
  }

  /** Milliseconds until the rate limit allows the next attempt. */
  restMs(monotonicMs: number): number {
    const rate = this.limits?.maxRatePerMin ?? null
    return rate === null ? 0 : Math.max(0, Math.ceil(this.#begunMs + 60_000 / rate - monotonicMs))
  }

  /** Records the start of an attempt. */
  begin(monotonicMs: number): void {
    this.active++
    this.takeAllowance(monotonicMs)
  }

  /** Consumes the rate limit's allowance for one message or copy. */
  takeAllowance(monotonicMs: number): void {
    this.#begunMs = monotonicMs
  }
}
