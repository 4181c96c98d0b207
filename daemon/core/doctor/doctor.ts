/** Looks for what is wrong, in the background at a calm pace and when somebody asks, and has it told. */
import type { Clock, Timer } from '../clock.ts'
import type { Check } from './check.ts'
import { inOrder, isAlarming, nameOf, severities, type Finding, type FindingId, type Severity } from './finding.ts'

export interface DoctorOptions {
  readonly clock: Clock
  readonly checks: readonly Check[]
  /** Tells who is to be told; gets the findings of each check that has looked, by its name. */
  readonly tell: (found: ReadonlyMap<string, readonly Finding[]>) => Promise<void>
  readonly onError: (error: unknown, check?: string) => void
}

export interface DoctorReport {
  /** Nothing but notices. */
  readonly ok: boolean
  /** When checks looked last; null before all have looked for the first time. */
  readonly checkedAt: number | null
  /** A look is under way. */
  readonly examining: boolean
  readonly findings: readonly Finding[]
}

/** A start is busy enough; what it breaks shows then. */
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
  /** All checks look in the round after the one under way. */
  #next: Promise<void> | undefined

  constructor(options: DoctorOptions) {
    this.#options = options
  }

  start(): void {
    this.#rest(firstMs)
  }

  /** What was found last. */
  report(): DoctorReport {
    const unique = new Map([...this.#found.values()].flat().map((one) => [nameOf(one), one]))
    const findings = inOrder([...unique.values()])
    return { ok: !findings.some(isAlarming), checkedAt: this.#checkedAt, examining: this.#round !== undefined, findings }
  }

  /** Has every check look now. Whoever asks while such a look waits for its turn gets the same one. */
  async examine(): Promise<DoctorReport> {
    this.#next ??= (this.#round ?? Promise.resolve()).then(() => {
      this.#next = undefined
      return this.#look(this.#options.checks, true)
    })
    await this.#next
    return this.report()
  }

  /** How many findings there are now, by severity and by id. */
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

  /** One after the other, as none is urgent. */
  async #lookAt(checks: readonly Check[], isAsked: boolean): Promise<void> {
    const { clock, tell, onError } = this.#options
    for (const check of checks) {
      if (this.#abort.signal.aborted) return
      this.#lookedAt.set(check, clock.monotonic())
      try {
        const found = await check.find(this.#abort.signal, isAsked)
        if (!this.#abort.signal.aborted) this.#found.set(check.name, found)
      } catch (error) {
        onError(error, check.name) // the others go on, and what it found before stands
      }
    }
    if (this.#abort.signal.aborted || checks.length === 0) return
    if (checks.length === this.#options.checks.length || this.#checkedAt !== null) this.#checkedAt = clock.now()
    await tell(this.#found).catch((error: unknown) => onError(error))
  }
}
