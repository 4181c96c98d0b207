/** Enforces the deadlines of a session: silence, slow data, useless commands. One timer checks all of them, so commands cost nothing. */
import type { Clock, Timer } from '#core/clock.ts'

/** State of the session: waits for a command, receives a message, or processes something that needs a reply. */
export type Phase = 'command' | 'data' | 'working'
export type Expiry = 'idle' | 'session' | 'slow'

export interface Watched {
  readonly phase: Phase
  /** Octets received since the start. Any change counts as activity. */
  readonly octetsReceived: number
  /** True while more than 75 % of the connections are in use. Silent sessions then end after `scarceIdleMs`. */
  readonly isScarce: boolean
  expire(why: Expiry): void
}

/** Minimum octets of a message in each window. */
const slowestOctetsPerWindow = 60 * 1024
const rateWindowMs = 60_000
const maxLookEveryMs = 10_000
/** Maximum silence while `isScarce`. */
const scarceIdleMs = 30_000

export class SessionWatch {
  readonly #clock: Clock
  readonly #sessionMs: number
  readonly #idleMs: number
  readonly #watched: Watched
  /** Time between messages since the last accepted one. */
  #unproductiveMs = 0
  #lookedAt: number
  #octets = 0
  #seenAt: number
  #window: { readonly since: number; readonly octets: number } | undefined
  #timer: Timer | undefined

  constructor(clock: Clock, limits: { readonly sessionMs: number; readonly idleMs: number }, watched: Watched) {
    this.#clock = clock
    this.#sessionMs = limits.sessionMs
    this.#idleMs = limits.idleMs
    this.#watched = watched
    this.#lookedAt = clock.monotonic()
    this.#seenAt = this.#lookedAt
    this.#schedule()
  }

  /** Resets the time without messages after an accepted message. */
  progressed(): void {
    this.#unproductiveMs = 0
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #schedule(): void {
    this.#timer = this.#clock.after(Math.min(maxLookEveryMs, this.#idleMs / 4, this.#sessionMs / 4), () => this.#look())
  }

  #look(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    const { phase, octetsReceived } = this.#watched
    if (octetsReceived !== this.#octets || phase === 'working') this.#seenAt = now
    this.#octets = octetsReceived
    if (phase === 'command') this.#unproductiveMs += now - this.#lookedAt
    this.#lookedAt = now
    const why = this.#expiry(now, phase)
    if (why) this.#watched.expire(why)
    else this.#schedule()
  }

  #expiry(now: number, phase: Phase): Expiry | undefined {
    if (phase !== 'data') this.#window = undefined
    if (phase === 'working') return undefined
    if (phase === 'command' && this.#unproductiveMs >= this.#sessionMs) return 'session'
    const idleMs = this.#watched.isScarce ? Math.min(scarceIdleMs, this.#idleMs) : this.#idleMs
    if (now - this.#seenAt >= idleMs) return 'idle'
    return phase === 'data' && this.#isSlow(now) ? 'slow' : undefined
  }

  #isSlow(now: number): boolean {
    this.#window ??= { since: now, octets: this.#octets }
    if (now - this.#window.since < rateWindowMs) return false
    const slow = this.#octets - this.#window.octets < slowestOctetsPerWindow
    this.#window = { since: now, octets: this.#octets }
    return slow
  }
}
