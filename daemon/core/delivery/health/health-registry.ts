/**
 * What this process knows of each destination: its breaker, the figures of its last hour, and when it was last used. Lives in
 * memory alone, so that an idle service writes nothing; after a start every breaker is closed and every window is empty.
 */
import type { Clock } from '../../clock.ts'
import { afterFault, afterSuccess, endPause, newBreaker, phaseOf, type Breaker, type BreakerCause, type BreakerPhase } from './breaker.ts'
import type { BreakerGate } from './destination-load.ts'
import { effectOf, errorClass } from '../attempt/error-class.ts'
import { RollingHour, type HourFigures } from './rolling-hour.ts'
import { afterDelivery, afterThrottling, fullSpeed, type SlowDown } from './slow-down.ts'
import type { AttemptReport } from '../transport.ts'

/** A breaker as it is shown. */
export interface BreakerView {
  readonly phase: BreakerPhase
  readonly since: number | null
  readonly reason: string | null
  readonly cause: BreakerCause | null
  /** When an attempt is let through again; null while closed. */
  readonly until: number | null
}

export interface RestingDestination {
  readonly destinationId: string
  readonly organizationId: string
  readonly breaker: BreakerView
}

/** Is notified of breakers, for logs and metrics. */
export interface BreakerListener {
  breakerChanged(destinationId: string, breaker: BreakerView): void
}

export interface HealthRegistryOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly listener: BreakerListener
  /** Is notified of every destination that an attempt was made at. */
  readonly onUsed: (organizationId: string, destinationId: string) => void
}

/** The settings that an entry is about: a destination whose settings change gets a closed breaker. */
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
  /** Attempts under way. */
  active: number
}

/** A destination that no mail has been tried at for so long is forgotten. */
const keptMs = 24 * 3_600_000
/** While a trial is under way, other messages look again after so long. */
const trialMs = 5000
/** Latency is that of the last minutes, so that a destination that was skipped is soon tried again. */
const latencyMinutes = 5
const latencyAttemptsMin = 10

export class HealthRegistry {
  readonly #options: HealthRegistryOptions
  readonly #entries = new Map<string, Entry>()
  #sweptAt = 0

  constructor(options: HealthRegistryOptions) {
    this.#options = options
  }

  /** An attempt at the destination begins; `attempted` must follow. */
  attempting(subject: Subject): void {
    this.#entry(subject).active++
  }

  /** An attempt at the destination has ended. */
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
    if (subject.updatedAt < entry.revision) return // it says nothing about the new settings
    const fault = report.error ?? { code: 'no_answer', message: 'The provider did not respond.' }
    this.#set(subject.id, entry, effect === 'fault' ? afterFault(entry.breaker, fault, now, random()) : afterSuccess(entry.breaker, now))
  }

  /** A test has seen the destination work: mail that waits for it may be tried at once. */
  sawWorking(subject: Subject): void {
    const entry = this.#entries.get(subject.id)
    if (entry) this.#set(subject.id, entry, endPause(entry.breaker, this.#options.clock.now()))
  }

  /** Milliseconds for which the provider gets nothing, as it asked for fewer messages. */
  throttledMs(destinationId: string): number {
    const until = this.#entries.get(destinationId)?.slowDown.until ?? 0
    return Math.max(0, until - this.#options.clock.monotonic())
  }

  /** Its provider asked for fewer messages, and takes one at a time again. */
  isSpeedingUp(destinationId: string): boolean {
    return (this.#entries.get(destinationId)?.slowDown.pauseMs ?? 0) > 0 && this.throttledMs(destinationId) === 0
  }

  /** What the breaker lets through now, and what a provider takes that asked for fewer messages. */
  gate(subject: Subject): BreakerGate {
    const now = this.#options.clock.now()
    const breaker = this.#breaker(subject)
    const phase = phaseOf(breaker, now)
    const pauseMs = Math.max(phase === 'open' ? breaker.until - now : 0, this.throttledMs(subject.id))
    return { pauseMs, onTrial: phase === 'half_open' || (this.#entries.get(subject.id)?.slowDown.pauseMs ?? 0) > 0 }
  }

  /** Milliseconds until one more attempt makes sense beside those under way; 0 is now. */
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

  /** The 95th percentile of the last five minutes; undefined where there are too few attempts. */
  recentP95Ms(destinationId: string): number | undefined {
    const recent = this.#entries.get(destinationId)?.hour.figures(this.#options.clock.monotonic(), latencyMinutes)
    return recent && recent.attempts >= latencyAttemptsMin ? (recent.p95Ms ?? undefined) : undefined
  }

  /** Destinations whose breaker is not closed. */
  resting(): RestingDestination[] {
    const now = this.#options.clock.now()
    return [...this.#entries].flatMap(([destinationId, { breaker, organizationId }]) =>
      breaker.state === 'open' ? [{ destinationId, organizationId, breaker: viewOf(breaker, now) }] : [],
    )
  }

  /** Destinations whose breaker is not closed, for metrics. */
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
      }
      this.#entries.set(id, made)
      return made
    }
    if (kept.revision < updatedAt) {
      kept.revision = updatedAt
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
