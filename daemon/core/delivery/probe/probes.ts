/** Connection tests of destinations: on request, for health snapshots, and in the periodic rounds that keep snapshots fresh. */
import type { Core } from '../../core.ts'
import type { Page } from '#store/database.ts'
import type { OfProject, PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Timer } from '../../clock.ts'
import type { Destination } from '../../routing/destination.ts'
import type { TimelineEntry } from '../../trace/timeline/send-timeline.ts'
import type { Trace } from '../../trace/trace.ts'
import { toTarget } from '../attempt/transport-target.ts'
import type { BreakerView, HealthRegistry } from '../health/health-registry.ts'
import { adviceFor, isNameServers, stepUnderWay } from './probe-advice.ts'
import { readSteps, type Aspect } from './probe-reading.ts'
import type { HourFigures } from '../health/rolling-hour.ts'
import type { ProbeStep, Transport } from '../transport.ts'

export interface ProbeOptions extends Core {
  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  readonly destinations: {
    get(principal: Principal, id: string): Promise<Destination>
    list(principal: Principal, query: PageQuery & OfProject): Promise<Page<Destination>>
  }
  /** Returns the current destination, or undefined if it was deleted. Used by the background rounds. */
  readonly current: (organizationId: string, id: string) => Promise<Destination | undefined>
  readonly health: HealthRegistry
  readonly transport: Transport
  readonly random: () => number
  /** Notified of each probe that is not part of a check, because probes are not counted. */
  readonly onProbed: (organizationId: string, destination: Destination) => unknown
  readonly onError: (error: unknown, destinationId: string) => void
}

/** Result of one probe. */
export interface ProbeResult {
  readonly ok: boolean
  readonly steps: readonly ProbeStep[]
}

/** A probe that this daemon remembers. */
export interface KnownProbe extends ProbeResult {
  /** Its start. */
  readonly at: number
}

/** Health of a destination. Spec "Destination", health snapshot. */
export interface HealthSnapshot {
  readonly destinationId: string
  /** Start of the probe. */
  readonly checkedAt: number
  readonly reachability: Aspect
  readonly tls: Aspect
  readonly auth: Aspect
  /** Duration of the whole probe in milliseconds. */
  readonly latencyMs: number
  readonly breaker: BreakerView
  readonly lastHour: HourFigures
}

/** Health of a destination without a new probe. */
export type KnownHealth = Pick<HealthSnapshot, 'destinationId' | 'breaker' | 'lastHour'>

/** A problem that the first check of new or changed settings found. */
export interface DestinationWarning {
  readonly code: 'destination_misconfigured' | 'dns_unreachable'
  /** The step that failed or timed out. */
  readonly step: string
  /** The problem and the next step. */
  readonly message: string
}

interface CachedProbe extends KnownProbe {
  readonly revision: number
  readonly monotonic: number
}

interface Round {
  readonly organizationId: string
  /** On the monotonic clock. */
  usedAt: number
  dueAt: number
}

/** Timeout of a probe. */
const probeMs = 20_000
/** Maximum wait for the first check of changed settings. */
const firstLookMs = 5000
/** A request for an older snapshot runs a new probe. */
const freshMs = 60_000
/** Interval of the rounds, varied by ± `jitter`. Rounds probe a destination for a day after its last use. */
const everyMs = 5 * 60_000
const jitter = 0.2
const inUseMs = 24 * 3_600_000
/** Maximum concurrent probes of rounds. */
const maxAtATime = 3

export class Probes {
  readonly #options: ProbeOptions
  readonly #cached = new Map<string, CachedProbe>()
  readonly #inFlight = new Map<string, { readonly result: Promise<CachedProbe>; readonly seen: readonly ProbeStep[] }>()
  readonly #rounds = new Map<string, Round>()
  readonly #abort = new AbortController()
  #roundsInFlight = 0
  #alarm: { readonly atMs: number; readonly timer: Timer } | undefined

  constructor(options: ProbeOptions) {
    this.#options = options
  }

  /** Connects and signs in without sending a message. On success, ends the pause of an open breaker. */
  async test(principal: Principal, id: string): Promise<ProbeResult> {
    const { destinations, health } = this.#options
    const destination = await destinations.get(principal, id)
    const result = await this.#noted(principal.organizationId, destination)
    if (result.ok) health.sawWorking(destination)
    return result
  }

  /** Returns the snapshot. Runs a probe unless the last minute has one for the same settings. */
  async health(principal: Principal, id: string): Promise<HealthSnapshot> {
    const { destinations, health, clock } = this.#options
    const destination = await destinations.get(principal, id)
    const cached = this.#cached.get(id)
    const isFresh = cached?.revision === destination.updatedAt && clock.monotonic() - cached.monotonic < freshMs
    const { at, steps } = isFresh ? cached : await this.#noted(principal.organizationId, destination)
    return {
      destinationId: id,
      checkedAt: at,
      ...readSteps(steps),
      latencyMs: steps.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
      breaker: health.breaker(destination),
      lastHour: health.figures(id),
    }
  }

  /** Returns health in the order and pages of the list of destinations. Runs no probe. */
  async known(principal: Principal, query: PageQuery & OfProject): Promise<Page<KnownHealth>> {
    const { destinations, health } = this.#options
    const { rows, ...page } = await destinations.list(principal, query)
    const known = (one: Destination): KnownHealth => ({
      destinationId: one.id,
      breaker: health.breaker(one),
      lastHour: health.figures(one.id),
    })
    return { ...page, rows: rows.map(known) }
  }

  /** Returns the latest probe of these settings, or runs a probe if the latest is older than `maxAgeMs`. */
  async lately(destination: Destination, maxAgeMs: number): Promise<KnownProbe> {
    const cached = this.#current(destination)
    return cached && this.#options.clock.monotonic() - cached.monotonic < maxAgeMs ? cached : this.#probe(destination)
  }

  /** Returns the latest probe of these settings, or undefined. */
  seen(destination: Destination): KnownProbe | undefined {
    return this.#current(destination)
  }

  #current({ id, updatedAt }: Destination): CachedProbe | undefined {
    const cached = this.#cached.get(id)
    return cached?.revision === updatedAt ? cached : undefined
  }

  /** Checks the current settings for up to five seconds. Returns warnings, or an empty list if the settings work. */
  async firstLook(organizationId: string, destination: Destination): Promise<readonly DestinationWarning[]> {
    const { clock } = this.#options
    const late = Promise.withResolvers<undefined>()
    const timer = clock.after(firstLookMs, () => late.resolve(undefined))
    const { seen } = this.#begun(destination)
    const probe = await Promise.race([this.#noted(organizationId, destination), late.promise])
    timer.cancel()
    const failed = probe ? probe.steps.find(({ ok }) => !ok) : stepUnderWay(destination, seen, firstLookMs)
    if (!failed) return []
    const message = `${failed.detail} ${adviceFor(failed)} The destination is stored. Its mail is queued or fails over until a test succeeds.`
    return [{ code: isNameServers(failed) ? 'dns_unreachable' : 'destination_misconfigured', step: failed.step, message }]
  }

  /** Returns the timeline entry of a queued message that waits for the breaker of its destination. Shown with the trace, never stored. */
  async waiting(organizationId: string, { status, destinationId }: Trace): Promise<TimelineEntry | undefined> {
    if (status !== 'queued' || destinationId === null) return undefined
    const { health, current } = this.#options
    const destination = await current(organizationId, destinationId)
    const breaker = destination && health.breaker(destination)
    if (!destination || !breaker || breaker.phase === 'closed') return undefined
    const until = new Date(breaker.until ?? 0).toISOString()
    return {
      at: breaker.since ?? 0,
      event: 'waiting',
      message: `Delivery to the destination ${destination.name} is paused: ${breaker.reason ?? ''} The next trial is at ${until}.`,
      detail: { destination_id: destination.id, breaker: breaker.phase, next_trial_at: until },
    }
  }

  /** Records an attempt at this destination. Rounds probe the destination for the next day. */
  used(organizationId: string, destinationId: string): void {
    const monotonic = this.#options.clock.monotonic()
    const round = this.#rounds.get(destinationId)
    if (round) {
      round.usedAt = monotonic
      return
    }
    const dueAt = monotonic + this.#interval()
    this.#rounds.set(destinationId, { organizationId, usedAt: monotonic, dueAt })
    this.#setAlarm(dueAt)
  }

  /** Ends the rounds and running probes. */
  async stop(): Promise<void> {
    this.#alarm?.timer.cancel()
    this.#rounds.clear()
    this.#abort.abort()
    await Promise.allSettled([...this.#inFlight.values()].map(({ result }) => result))
  }

  /** Runs a probe, and reports its end also to a caller that waited no longer. */
  async #noted(organizationId: string, destination: Destination): Promise<CachedProbe> {
    const probe = await this.#probe(destination)
    this.#options.onProbed(organizationId, destination)
    return probe
  }

  /** Runs one probe at a time for a destination and its settings. Concurrent callers share the result. */
  #probe(destination: Destination): Promise<CachedProbe> {
    return this.#begun(destination).result
  }

  /** `seen` contains the steps that have ended. */
  #begun(destination: Destination): { readonly result: Promise<CachedProbe>; readonly seen: readonly ProbeStep[] } {
    const key = `${destination.id} ${destination.updatedAt}`
    const before = this.#inFlight.get(key)
    if (before) return before
    const seen: ProbeStep[] = []
    const result = this.#run(destination, (step) => seen.push(step)).finally(() => this.#inFlight.delete(key))
    const begun = { result, seen }
    this.#inFlight.set(key, begun)
    return begun
  }

  async #run(destination: Destination, seen: (step: ProbeStep) => void): Promise<CachedProbe> {
    const { clock, secrets, transport, health } = this.#options
    const [at, monotonic] = [clock.now(), clock.monotonic()]
    const target = toTarget(destination, secrets)
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(probeMs)])
    const steps = target ? await transport.probe(target, signal, seen) : [unopened]
    const cached = { ok: steps.every(({ ok }) => ok), steps, at, monotonic, revision: destination.updatedAt }
    health.probed(destination, steps)
    this.#cached.delete(destination.id)
    this.#cached.set(destination.id, cached)
    for (const [id, { monotonic: madeAt }] of this.#cached) {
      if (monotonic - madeAt < inUseMs) break
      this.#cached.delete(id)
    }
    return cached
  }

  #interval(): number {
    return everyMs * (1 + jitter * (2 * this.#options.random() - 1))
  }

  #setAlarm(atMs: number): void {
    if (atMs === Infinity || this.#abort.signal.aborted || (this.#alarm && this.#alarm.atMs <= atMs)) return
    const { clock } = this.#options
    this.#alarm?.timer.cancel()
    this.#alarm = { atMs, timer: clock.after(atMs - clock.monotonic(), () => this.#ring()) }
  }

  /** Starts a few due probes and sets the timer for the next probe. Without destinations in use no timer runs. */
  #ring(): void {
    this.#alarm?.timer.cancel()
    this.#alarm = undefined
    const monotonic = this.#options.clock.monotonic()
    for (const [id, round] of this.#rounds) {
      if (monotonic - round.usedAt > inUseMs) this.#rounds.delete(id)
      else if (round.dueAt <= monotonic && this.#roundsInFlight < maxAtATime) this.#beginRound(id, round, monotonic)
    }
    if (this.#roundsInFlight >= maxAtATime) return // the end of a running probe calls this again
    this.#setAlarm(Math.min(Infinity, ...[...this.#rounds.values()].map(({ dueAt }) => dueAt)))
  }

  #beginRound(id: string, round: Round, monotonic: number): void {
    round.dueAt = monotonic + this.#interval()
    this.#roundsInFlight++
    this.#roundOf(id, round)
      .catch((error: unknown) => this.#options.onError(error, id))
      .finally(() => {
        this.#roundsInFlight--
        this.#ring()
      })
  }

  /** Probes a live destination. Removes a deleted or sandbox destination until the next attempt at it. */
  async #roundOf(id: string, { organizationId }: Round): Promise<void> {
    const destination = await this.#options.current(organizationId, id)
    if (destination?.mode !== 'live') {
      this.#rounds.delete(id)
      return
    }
    await this.#noted(organizationId, destination)
  }
}

const unopened: ProbeStep = {
  step: 'auth',
  ok: false,
  detail: 'The stored password cannot be decrypted with the current master key; set it again.',
  milliseconds: 0,
}
