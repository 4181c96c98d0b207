/** Runs the checks, periodically in the background and on request, and stores what they find. */
import type { Database } from '#store/database.ts'
import type { Clock, Timer } from '../clock.ts'
import { findings } from '../findings/finding.ts'
import { severities, type FindingKind, type Severity } from '../findings/kinds.ts'
import { isForOperator, openFindings, type OpenFinding } from '../findings/open-findings.ts'
import type { Settle } from '../findings/settle.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import type { Check } from './check.ts'
import { isAlarming, openReport, inWords, type ReportedFinding } from './report.ts'
import { findingsWithoutStore } from './without-store.ts'

export interface DoctorOptions {
  readonly database: Database
  readonly clock: Clock
  readonly settle: Pick<Settle, 'settle' | 'removeEnded'>
  readonly checks: readonly Check[]
  readonly onError: (error: unknown, check?: string) => void
}

export interface DoctorReport {
  /** True if all findings are notices. */
  readonly ok: boolean
  /** Time of the last round of checks of this daemon; null until all its checks have run once. */
  readonly checkedAt: number | null
  /** Whether a round of checks is running. */
  readonly examining: boolean
  /** Findings for the operator. */
  readonly findings: readonly ReportedFinding[]
}

/** Delays the first round, because the start of the daemon is busy; problems persist until then. */
const firstMs = 60_000
const everyMs = 60_000
const removalMs = 3_600_000
/** Maximum number of ended findings that are removed at once. */
const removedAtOnce = 500

export class Doctor {
  readonly #options: DoctorOptions
  readonly #lookedAt = new Map<Check, number>()
  readonly #abort = new AbortController()
  /** This daemon runs the checks that one daemon runs for all. */
  #isHolder = false
  #removedAt = -Infinity
  #checkedAt: number | null = null
  /** The open findings for the operator at the last reading, and errors of the service among them. */
  #open: readonly OpenFinding[] = []
  #errors: readonly ReportedFinding[] = []
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  /** A round of all checks that follows the running round. */
  #next: Promise<void> | undefined

  constructor(options: DoctorOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.#rest(firstMs)
    await this.#read().catch((error: unknown) => this.#options.onError(error))
  }

  /** Begins with the checks that one daemon runs for all. */
  hold(): void {
    this.#isHolder = true
  }

  /** Leaves these checks to another daemon. */
  async release(): Promise<void> {
    this.#isHolder = false
    await this.#round
  }

  /** Reads the stored findings. While the database does not answer, examines what needs no store. */
  async report(): Promise<DoctorReport> {
    const withoutStore = await this.#withoutStore()
    return this.#reportOf(withoutStore ?? (await openReport(this.#options.database)))
  }

  #reportOf(found: readonly ReportedFinding[]): DoctorReport {
    return { ok: !found.some(isAlarming), checkedAt: this.#checkedAt, examining: this.#round !== undefined, findings: found }
  }

  /** Runs every check now, or those that need no store while the database does not answer. Concurrent calls share the same round. */
  async examine(): Promise<DoctorReport> {
    const withoutStore = await this.#withoutStore()
    if (withoutStore) return this.#reportOf(withoutStore)
    this.#next ??= (this.#round ?? Promise.resolve()).then(() => {
      this.#next = undefined
      return this.#begin(this.#options.checks, true)
    })
    await this.#next
    return this.report()
  }

  /** Returns the number of open findings at the last look, by severity and by kind. */
  counts(): { readonly bySeverity: ReadonlyMap<Severity, number>; readonly byKind: ReadonlyMap<FindingKind, number> } {
    return {
      bySeverity: new Map(severities.map((one) => [one, this.#open.filter(({ severity }) => severity === one).length])),
      byKind: new Map([...Map.groupBy(this.#open, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length])),
    }
  }

  /** Returns the open errors of the service at the last look. */
  get serviceErrors(): readonly ReportedFinding[] {
    return this.#errors
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
      const own = this.#options.checks.filter(({ place }) => place === 'every' || this.#isHolder)
      const due = own.filter((check) => now - (this.#lookedAt.get(check) ?? -Infinity) >= check.everyMs)
      void (this.#round ?? this.#begin(due, false)).finally(() => this.#rest(everyMs))
    })
  }

  #withoutStore(): Promise<ReportedFinding[] | undefined> {
    return findingsWithoutStore(this.#options, this.#abort.signal)
  }

  #begin(checks: readonly Check[], isAsked: boolean): Promise<void> {
    this.#round = this.#runAll(checks, isAsked)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => (this.#round = undefined))
    return this.#round
  }

  /** Runs the checks one after another. */
  async #runAll(checks: readonly Check[], isAsked: boolean): Promise<void> {
    const { database, clock, onError } = this.#options
    const openAt = Map.groupBy(await Array.fromAsync(openFindings(database)), ({ check }) => check)
    for (const check of checks) {
      if (this.#abort.signal.aborted) return
      this.#lookedAt.set(check, clock.monotonic())
      try {
        await this.#run(check, isAsked, new Set(openAt.get(check.name)?.map(({ organizationId }) => organizationId)))
      } catch (error) {
        onError(error, check.name) // continues with the other checks and keeps the stored findings
      }
    }
    if (this.#isHolder) await this.#removeEnded()
    if (this.#abort.signal.aborted) return
    if (checks.length > 0) this.#checkedAt = clock.now()
    await this.#read()
  }

  /** Stores the result of a check, at organizations with a result or with open findings of the check. */
  async #run(check: Check, isAsked: boolean, openAt: ReadonlySet<string>): Promise<void> {
    const { database, settle, onError } = this.#options
    const { signal } = this.#abort
    const { found, coversFinding } = await check.look({ signal, isAsked, openAt })
    if (signal.aborted) return
    const byOrganization = Map.groupBy(found, ({ organizationId }) => organizationId)
    const daemon = check.isOwn && database.daemons.id !== '' ? database.daemons.id : undefined
    for (const organizationId of new Set([...byOrganization.keys(), ...openAt]))
      try {
        await settle.settle({
          ...{ organizationId, check: check.name, daemon, observed: byOrganization.get(organizationId) ?? [] },
          ...(coversFinding && { coversFinding: (finding) => coversFinding(organizationId, finding) }),
        })
      } catch (error) {
        onError(error, check.name)
      }
  }

  async #removeEnded(): Promise<void> {
    const { clock, settle } = this.#options
    if (clock.monotonic() - this.#removedAt < removalMs) return
    this.#removedAt = clock.monotonic()
    let remain = true
    while (remain && !this.#abort.signal.aborted) remain = await settle.removeEnded(removedAtOnce)
  }

  async #read(): Promise<void> {
    const { database } = this.#options
    this.#open = (await Array.fromAsync(openFindings(database))).filter(isForOperator)
    const errors = this.#open.filter(({ severity, organizationId }) => severity === 'error' && organizationId === systemOrganizationId)
    const ids = errors.map(({ id }) => id)
    const stored = await database.getMany(findings, { organizationId: systemOrganizationId }, ids)
    this.#errors = stored.flatMap((one) => (one ? [inWords(one.record)] : []))
  }
}
