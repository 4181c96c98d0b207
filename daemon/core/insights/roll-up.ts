/**
 * Rolls up counts to coarser levels for projects and organizations, and removes rows after their retention. A round overwrites its rows, so
 * an interrupted round can be repeated.
 */
import { Change, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { encodeCounts, foldSubjects } from '#store/tally.ts'
import { pack } from '#store/tuple.ts'
import type { Clock, Timer } from '../clock.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { organizations, projects } from '../tenancy/organization.ts'
import type { Place } from './count.ts'
import { allLevels, countsKey, countsPrefix, levels, maxDomains, ofDomains, rolledKey, wholeOrganization, type Level } from './levels.ts'
import { addRow, begunOf, rolledTo, rowsOf, type RolledTo, type Sums } from './rows.ts'

export interface RollUpOptions {
  readonly database: Database
  readonly clock: Clock
  /** Projects that are not in the store's list. */
  readonly others: readonly Place[]
  readonly onError: (error: unknown) => void
}

/** Delay before a minute is rolled up, because its counts can be written slightly later. */
const graceMs = 60_000
const batch = 500
/** Maximum period per step after long downtime, which limits memory. */
const maxStepMs = 86_400_000
const [minutes, quarters] = levels

export class RollUp {
  readonly #options: RollUpOptions
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #isStopping = false
  #commits = -1
  /** Start of the last round, on both clocks. */
  #last: { readonly now: number; readonly monotonic: number } | undefined

  constructor(options: RollUpOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#round().catch(this.#options.onError)
    const { clock } = this.#options
    const now = clock.now()
    const next = now - (now % quarters.ms) + quarters.ms + graceMs
    this.#timer = clock.after(next - now, () => void this.#running.then(() => this.#isStopping || this.start()))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Skips the round if the store has no new commits, so that idle services write nothing. */
  async #round(): Promise<void> {
    const { database } = this.#options
    if (database.commits === this.#commits) return
    await this.rollUp()
    this.#commits = database.commits
  }

  /** Rolls up all complete steps. */
  async rollUp(): Promise<void> {
    const { clock } = this.#options
    const now = clock.now()
    const before = await this.#complete()
    if (before.size === 0) return await this.#note(new Map(levels.slice(1).map(({ name, ms }) => [name, now - (now % ms)])))
    let reached = before
    for (const [at, level] of levels.entries()) {
      const finer = levels[at - 1]
      if (!finer) continue
      const end = finer === minutes ? now - graceMs : (reached.get(finer.name) ?? 0)
      reached = await this.#fill(level, finer, reached, end - (end % level.ms))
    }
    if (!this.#isStopping) await this.#sweep(now, reached)
  }

  /** Returns the completion times of levels. Limits them if the wall clock was set back. */
  async #complete(): Promise<RolledTo> {
    const rolled = await rolledTo(this.#options.database)
    const earliest = this.#earliest()
    const complete = levels.flatMap(({ name, ms }) => {
      const at = rolled.get(name)
      return at === undefined ? [] : [[name, Math.min(at, earliest - (earliest % ms))] as const]
    })
    if (complete.every(([name, at]) => at === rolled.get(name))) return rolled
    const before = new Map(complete)
    await this.#note(before)
    return before
  }

  /**
   * Returns the earliest time of counts since the last round, regardless of clock changes. Rounds of an earlier process count as one
   * quarter ago.
   */
  #earliest(): number {
    const { clock } = this.#options
    const [now, monotonic, last] = [clock.now(), clock.monotonic(), this.#last]
    this.#last = { now, monotonic }
    return last ? Math.min(last.now, now - (monotonic - last.monotonic)) : now - quarters.ms
  }

  async #fill(level: Level, finer: Level, rolled: RolledTo, end: number): Promise<RolledTo> {
    let reached = rolled
    for (let from = rolled.get(level.name) ?? end; from < end && !this.#isStopping;) {
      const to = Math.min(end, from + Math.max(level.ms, maxStepMs))
      await this.#note(new Map(reached).set(begunOf(level.name), to)) // before the reads, for `countTimeOf`
      for await (const organizationId of this.#organizations()) await this.#add(organizationId, level, finer, from, to)
      if (this.#isStopping) break
      reached = new Map(reached).set(level.name, to)
      await this.#note(reached)
      from = to
    }
    return reached
  }

  /** Rolls up one organization. From quarters on, the whole organization is rolled up like a project. */
  async #add(organizationId: string, level: Level, finer: Level, from: number, to: number): Promise<void> {
    const isFirst = finer === minutes
    const whole: Sums = new Map()
    for (const projectId of await this.#projects(organizationId)) {
      const sums: Sums = new Map()
      for await (const { at, subject, counts } of rowsOf(this.#options.database, finer, { organizationId, projectId }, { from, to })) {
        addRow(sums, at - (at % level.ms), subject, counts)
        if (isFirst) addRow(whole, at - (at % level.ms), subject, counts)
      }
      if (!isFirst || projectId !== wholeOrganization) await this.#write({ organizationId, projectId }, level, sums)
    }
    if (isFirst) await this.#write({ organizationId, projectId: wholeOrganization }, level, whole)
  }

  async #write({ organizationId, projectId }: Place, level: Level, sums: Sums): Promise<void> {
    let change = new Change()
    for (const [at, bySubject] of sums)
      for (const [subject, counts] of bySubject) {
        if (subject === ofDomains) foldSubjects(counts, maxDomains.later)
        change.set(countsKey(level, organizationId, projectId, at, subject), encodeCounts(counts))
        if (change.sets.length < batch) continue
        await this.#commit(organizationId, projectId, change)
        change = new Change()
      }
    if (change.sets.length > 0) await this.#commit(organizationId, projectId, change)
  }

  /** Writes rows unless the project or the organization was removed in the meantime. */
  async #commit(organizationId: string, projectId: string, change: Change): Promise<void> {
    const { database, others } = this.#options
    if (others.some((other) => other.organizationId === organizationId)) return void (await database.commit(change))
    for (;;) {
      change.checks.length = 0
      if (projectId === wholeOrganization) {
        const stored = await database.get(organizations, { organizationId }, organizationId)
        if (!stored) return
        change.checkRecord(organizations, organizationId, stored)
      } else {
        const stored = await database.get(projects, { organizationId }, projectId)
        if (!stored) return
        change.checkRecord(projects, organizationId, stored)
      }
      if ((await database.commit(change)).ok) return
    }
  }

  /** Removes rows after their retention, but not before they are rolled up. */
  async #sweep(now: number, reached: RolledTo): Promise<void> {
    for await (const organizationId of this.#organizations())
      for (const projectId of await this.#projects(organizationId))
        for (const [at, level] of allLevels.entries()) {
          const coarser: Level | undefined = levels[at + 1]
          const before = Math.min(now - level.keepMs, coarser ? (reached.get(coarser.name) ?? 0) : Infinity)
          await this.#remove(organizationId, projectId, level, before)
        }
  }

  async #remove(organizationId: string, projectId: string, level: Level, before: number): Promise<void> {
    const { database } = this.#options
    const prefix = countsPrefix(level, organizationId, projectId)
    while (!this.#isStopping) {
      const change = new Change()
      for await (const { key } of database.kv.range({ start: pack(prefix), end: pack([...prefix, before]), limit: batch }))
        change.deletes.push(key)
      if (change.deletes.length === 0) return
      await database.commit(change)
    }
  }

  async *#organizations(): AsyncGenerator<string> {
    for (const { organizationId } of this.#options.others) yield organizationId
    for await (const { id } of allOrganizations(this.#options.database)) {
      if (this.#isStopping) return
      yield id
    }
  }

  async #projects(organizationId: string): Promise<readonly string[]> {
    const { database, others } = this.#options
    const all = await database.all(projects, { organizationId })
    const unlisted = others.filter((other) => other.organizationId === organizationId)
    return [wholeOrganization, ...all.map(({ record }) => record.id), ...unlisted.map(({ projectId }) => projectId)]
  }

  async #note(reached: RolledTo): Promise<void> {
    await this.#options.database.commit(new Change().set(rolledKey, encode([...reached])))
  }
}
