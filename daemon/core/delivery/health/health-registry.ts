/**
 * Health of each destination in this process: breaker, figures of the last hour, last use. Kept only in memory, so that an idle service
 * writes nothing. After a start, every breaker is closed and every window is empty.
 */
import type { Clock } from '../../clock.ts'
import { afterFault, afterSuccess, endPause, newBreaker, phaseOf, type Breaker, type BreakerCause, type BreakerPhase } from './breaker.ts'
import type { BreakerGate } from './destination-load.ts'
import { effectOf, errorClass } from '../attempt/error-class.ts'
import { loginAfterAttempt, loginAfterProbe, type Login } from './login.ts'
import { RollingHour, type HourFigures } from './rolling-hour.ts'
import { afterDelivery, afterThrottling, fullSpeed, type SlowDown } from './slow-down.ts'
import type { AttemptReport, ProbeStep } from '../transport.ts'

/** State of a breaker, for display. */
export interface BreakerView {
  readonly phase: BreakerPhase
  readonly since: number | null
  readonly reason: string | null
  readonly cause: BreakerCause | null
  /** Time of the next allowed attempt; null while closed. */
  readonly until: number | null
}

export interface RestingDestination {
  readonly destinationId: string
  readonly organizationId: string
  readonly breaker: BreakerView
}

/** Notified of breaker changes, for logs and metrics. */
export interface BreakerListener {
  breakerChanged(destinationId: string, breaker: BreakerView): void
}

export interface HealthRegistryOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly listener: BreakerListener
  /** Notified of every destination with an attempt. */
  readonly onUsed: (organizationId: string, destinationId: string) => void
}

/** Identifies settings of a destination. Changed settings get a closed breaker. */
interface Subject {
  readonly id: string
  readonly updatedAt: number
}

interface Entry {
  revision: number
  breaker: Breaker
  slowDown: SlowDown
  readonly hour: RollingHour
  usedAt: number
  /** Empty until the first attempt has ended. */
  organizationId: string
  /** Attempts in flight. */
  active: number
  /** Undefined until an attempt or a probe with these settings has reached the sign-in. */
  login: Login | undefined
}

/** Entries without attempts for this time are removed. */
const keptMs = 24 * 3_600_000
/** Delay of other messages while a trial is in flight. */
const trialMs = 5000
/** Latency covers only recent minutes, so that a skipped destination is soon tried again. */
const latencyMinutes = 5
const latencyAttemptsMin = 10

export class HealthRegistry {
  readonly #options: HealthRegistryOptions
  readonly #entries = new Map<string, Entry>()
  #sweptAt = 0

  constructor(options: HealthRegistryOptions) {
    this.#options = options
  }

  /** Records the start of an attempt; `attempted` must follow. */
  attempting(subject: Subject): void {
    this.#entry(subject).active++
  }

  /** Records the end of an attempt. */
  attempted(organizationId: string, subject: Subject, report: AttemptReport): void {
    const { clock, random, onUsed } = this.#options
    const effect = effectOf(report)
    const [now, monotonic] = [clock.now(), clock.monotonic()]
    const entry = this.#entry(subject)
    entry.active--
    entry.usedAt = monotonic
    entry.organizationId = organizationId
    onUsed(organizationId, subject.id)
    if (effect === 'ours') return
    entry.hour.add(monotonic, report.milliseconds['total'] ?? 0, effect !== 'works')
    if (errorClass(report) === 'rate_limited')
      entry.slowDown = afterThrottling(entry.slowDown, monotonic, (report.retryAfterSeconds ?? 0) * 1000)
    else if (effect === 'works') entry.slowDown = afterDelivery(entry.slowDown, monotonic)
    if (subject.updatedAt < entry.revision) return // the attempt used the old settings
    entry.login = loginAfterAttempt(entry.login, report, now)
    const fault = report.error ?? { code: 'no_answer', message: 'The provider did not respond.' }
    this.#set(subject.id, entry, effect === 'fault' ? afterFault(entry.breaker, fault, now, random()) : afterSuccess(entry.breaker, now))
  }

  /** Records a successful test. Waiting mail may be tried immediately. */
  sawWorking(subject: Subject): void {
    const entry = this.#entries.get(subject.id)
    if (entry) this.#set(subject.id, entry, endPause(entry.breaker, this.#options.clock.now()))
  }

  /** Records the steps of a probe. */
  probed(subject: Subject, steps: readonly ProbeStep[]): void {
    const entry = this.#entry(subject)
    if (subject.updatedAt === entry.revision) entry.login = loginAfterProbe(entry.login, steps, this.#options.clock.now())
  }

  /** Returns whether the provider accepts the login; undefined if this process does not know. */
  login({ id, updatedAt }: Subject): Login | undefined {
    const entry = this.#entries.get(id)
    return entry?.revision === updatedAt ? entry.login : undefined
  }

  /** Milliseconds until the end of the pause for a provider that requested fewer messages. */
  throttledMs(destinationId: string): number {
    const until = this.#entries.get(destinationId)?.slowDown.until ?? 0
    return Math.max(0, until - this.#options.clock.monotonic())
  }

  /** True while a throttled destination receives one message at a time after the pause. */
  isSpeedingUp(destinationId: string): boolean {
    return (this.#entries.get(destinationId)?.slowDown.pauseMs ?? 0) > 0 && this.throttledMs(destinationId) === 0
  }

  /** Combines the breaker's gate with the pause after throttling. */
  gate(subject: Subject): BreakerGate {
    const now = this.#options.clock.now()
    const breaker = this.#breaker(subject)
    const phase = phaseOf(breaker, now)
    const pauseMs = Math.max(phase === 'open' ? breaker.until - now : 0, this.throttledMs(subject.id))
    return { pauseMs, onTrial: phase === 'half_open' || (this.#entries.get(subject.id)?.slowDown.pauseMs ?? 0) > 0 }
  }

  /** Milliseconds until another attempt makes sense, in addition to attempts in flight; 0 is now. */
  restMs(subject: Subject): number {
    const now = this.#options.clock.now()
    const breaker = this.#breaker(subject)
    const phase = phaseOf(breaker, now)
    if (phase === 'open') return breaker.until - now
    return phase === 'half_open' && (this.#entries.get(subject.id)?.active ?? 0) > 0 ? trialMs : 0
  }

  breaker(subject: Subject): BreakerView {
    const breaker = this.#breaker(subject)
    return viewOf(breaker, this.#options.clock.now())
  }

  figures(destinationId: string): HourFigures {
    const { clock } = this.#options
    return (this.#entries.get(destinationId)?.hour ?? new RollingHour()).figures(clock.monotonic())
  }

  /** The 95th percentile of the last five minutes; undefined with too few attempts. */
  recentP95Ms(destinationId: string): number | undefined {
    const recent = this.#entries.get(destinationId)?.hour.figures(this.#options.clock.monotonic(), latencyMinutes)
    return recent && recent.attempts >= latencyAttemptsMin ? (recent.p95Ms ?? undefined) : undefined
  }

  /** Destinations with a breaker that is not closed. */
  resting(): RestingDestination[] {
    const now = this.#options.clock.now()
    return [...this.#entries].flatMap(([destinationId, { breaker, organizationId }]) =>
      breaker.state === 'open' ? [{ destinationId, organizationId, breaker: viewOf(breaker, now) }] : [],
    )
  }

  /** Number of breakers that are not closed, for metrics. */
  get open(): number {
    return [...this.#entries.values()].filter(({ breaker }) => breaker.state === 'open').length
  }

  #breaker({ id, updatedAt }: Subject): Breaker {
    const entry = this.#entries.get(id)
    return entry?.revision === updatedAt ? entry.breaker : newBreaker
  }

  #entry({ id, updatedAt }: Subject): Entry {
    const monotonic = this.#options.clock.monotonic()
    this.#sweep(monotonic)
    const kept = this.#entries.get(id)
    if (!kept) {
      const made = {
        revision: updatedAt,
        breaker: newBreaker,
        slowDown: fullSpeed,
        hour: new RollingHour(),
        usedAt: monotonic,
        organizationId: '',
        active: 0,
        login: undefined,
      }
      this.#entries.set(id, made)
      return made
    }
    if (kept.revision < updatedAt) {
      kept.revision = updatedAt
      kept.login = undefined
      this.#set(id, kept, newBreaker)
    }
    return kept
  }

  #set(id: string, entry: Entry, breaker: Breaker): void {
    const before = entry.breaker
    entry.breaker = breaker
    if (before.state === breaker.state && before.openings === breaker.openings) return
    this.#options.listener.breakerChanged(id, viewOf(breaker, this.#options.clock.now()))
  }

  #sweep(monotonic: number): void {
    if (monotonic - this.#sweptAt < keptMs / 24) return
    this.#sweptAt = monotonic
    for (const [id, { usedAt, active }] of this.#entries) if (active === 0 && monotonic - usedAt > keptMs) this.#entries.delete(id)
  }
}

const viewOf = (breaker: Breaker, now: number): BreakerView => ({
  phase: phaseOf(breaker, now),
  since: breaker.since,
  reason: breaker.reason,
  cause: breaker.cause,
  until: breaker.state === 'open' ? breaker.until : null,
})
