/** Runs the checks, periodically in the background and on request, and reports the findings. */
import type { Clock, Timer } from '../clock.ts'
import type { Check } from './check.ts'
import { inOrder, isAlarming, nameOf, severities, type Finding, type FindingId, type Severity } from './finding.ts'

export interface DoctorOptions {
  readonly clock: Clock
  readonly checks: readonly Check[]
  /** Sends alerts. Receives the findings of each completed check, by its name. */
  readonly tell: (found: ReadonlyMap<string, readonly Finding[]>) => Promise<void>
  readonly onError: (error: unknown, check?: string) => void
}

export interface DoctorReport {
  /** True if all findings are notices. */
  readonly ok: boolean
  /** Time of the last round of checks; null until all checks have run once. */
  readonly checkedAt: number | null
  /** Whether a round of checks is running. */
  readonly examining: boolean
  readonly findings: readonly Finding[]
}

/** Delays the first round, because the start of the daemon is busy; problems persist until then. */
const firstMs = 60_000
const everyMs = 60_000

export class Doctor {
  readonly #options: DoctorOptions
  readonly #found = new Map<string, readonly Finding[]>()
  readonly #lookedAt = new Map<Check, number>()
  readonly #abort = new AbortController()
  #checkedAt: number | null = null
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  /** A round of all checks that follows the running round. */
  #next: Promise<void> | undefined

  constructor(options: DoctorOptions) {
    this.#options = options
  }

  start(): void {
    this.#rest(firstMs)
  }

  /** Returns the latest findings. */
  report(): DoctorReport {
    const unique = new Map([...this.#found.values()].flat().map((one) => [nameOf(one), one]))
    const findings = inOrder([...unique.values()])
    return { ok: !findings.some(isAlarming), checkedAt: this.#checkedAt, examining: this.#round !== undefined, findings }
  }

  /** Runs every check now. Concurrent calls share the same round. */
  async examine(): Promise<DoctorReport> {
    this.#next ??= (this.#round ?? Promise.resolve()).then(() => {
      this.#next = undefined
      return this.#look(this.#options.checks, true)
    })
    await this.#next
    return this.report()
  }

  /** Returns the number of current findings, by severity and by id. */
  counts(): { readonly bySeverity: ReadonlyMap<Severity, number>; readonly byId: ReadonlyMap<FindingId, number> } {
    const { findings } = this.report()
    return {
      bySeverity: new Map(severities.map((one) => [one, findings.filter(({ severity }) => severity === one).length])),
      byId: new Map([...Map.groupBy(findings, ({ id }) => id)].map(([id, all]) => [id, all.length])),
    }
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#abort.abort()
    await Promise.all([this.#round, this.#next])
  }

  #rest(ms: number): void {
    if (this.#abort.signal.aborted) return
    this.#timer = this.#options.clock.after(ms, () => {
      const now = this.#options.clock.monotonic()
      const due = this.#options.checks.filter((check) => now - (this.#lookedAt.get(check) ?? -Infinity) >= check.everyMs)
      void (this.#round ?? this.#look(due, false)).finally(() => this.#rest(everyMs))
    })
  }

  #look(checks: readonly Check[], isAsked: boolean): Promise<void> {
    this.#round = this.#lookAt(checks, isAsked).finally(() => (this.#round = undefined))
    return this.#round
  }

  /** Runs the checks one after another. */
  async #lookAt(checks: readonly Check[], isAsked: boolean): Promise<void> {
    const { clock, tell, onError } = this.#options
    for (const check of checks) {
      if (this.#abort.signal.aborted) return
      this.#lookedAt.set(check, clock.monotonic())
      try {
        const found = await check.find(this.#abort.signal, isAsked)
        if (!this.#abort.signal.aborted) this.#found.set(check.name, found)
      } catch (error) {
        onError(error, check.name) // continues with the other checks and keeps the previous findings
      }
    }
    if (this.#abort.signal.aborted || checks.length === 0) return
    if (checks.length === this.#options.checks.length || this.#checkedAt !== null) this.#checkedAt = clock.now()
    await tell(this.#found).catch((error: unknown) => onError(error))
  }
}
