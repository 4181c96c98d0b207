/** Writes what checks found: opens, changes and ends the findings of an organization. Writes nothing if nothing changed. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { unpack, within } from '#store/tuple.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Clock } from '../clock.ts'
import { transact, type Transaction } from '../writes/transact.ts'
import {
  endedKey,
  findings,
  insertFinding,
  nameOf,
  removeFinding,
  replaceFinding,
  supersedeFinding,
  type Finding,
  type Observed,
} from './finding.ts'
import { factsOf } from './kinds.ts'
import { endedFinding, nextFinding, type Observer } from './next-finding.ts'

export interface ChangedFinding {
  readonly finding: Finding
  /** Undefined for a new finding. */
  readonly before: Finding | undefined
}

/** Adds the consequences of changed findings to their write. Called once for each write of a look. */
export type FindingsChanged = (change: Change, organizationId: string, changed: readonly ChangedFinding[]) => Promise<void> | void

export interface SettleOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onChanged?: FindingsChanged
  /** Whether the daemon of this id runs. Others end the findings from the memory of a daemon that left, or adopt them if they persist. */
  readonly isRunning?: (daemon: string) => boolean
}

/** Result of one look of a check at one organization. */
export interface Look extends Observer {
  readonly organizationId: string
  readonly observed: readonly Observed[]
  /** Whether this look examined the finding, and may end it; by default it examined all findings of the check. */
  readonly coversFinding?: (finding: Finding) => boolean
}

export class Settle {
  readonly #options: SettleOptions
  /** First absence of findings that need two absences, by id. Only in memory: after a start, the time begins again. */
  readonly #absentSince = new Map<string, number>()

  constructor(options: SettleOptions) {
    this.#options = options
  }

  /**
   * Writes the changes, in one transaction unless there are many. After a crash between two transactions, the next look writes the others.
   * Returns whether findings of the check remain open.
   */
  async settle(look: Look): Promise<boolean> {
    const seen = new Map(look.observed.map((one) => [nameOf(one), one]))
    const absent: string[] = []
    for (const { record } of await this.#openOf(look.organizationId, look.check))
      if (seen.has(nameOf(record))) this.#absentSince.delete(record.id)
      else absent.push(record.id)
    const all = [...seen.values(), ...absent]
    let remain = false
    for (let at = 0; at < all.length; at += maxAtOnce) {
      const part = all.slice(at, at + maxAtOnce)
      const observed = part.filter((one) => typeof one !== 'string')
      const absentNow = part.filter((one) => typeof one === 'string')
      if (await this.#settlePart(look, observed, absentNow)) remain = true
    }
    return remain
  }

  async #settlePart(look: Look, seen: readonly Observed[], absent: readonly string[]): Promise<boolean> {
    const { database, clock } = this.#options
    const { organizationId, check } = look
    const reach = { organizationId }
    const { remain, ended } = await transact(database, reach, async (change) => {
      const now = clock.now()
      const changed: (ChangedFinding | undefined)[] = []
      const names = seen.map(({ kind, subject }) => [kind, subject] as const)
      const before = await database.findMany(findings, reach, 'subject', names)
      for (const [i, one] of seen.entries()) changed.push(this.#observe(change, organizationId, before[i], one, look, now))
      const open = (await database.getMany(findings, reach, absent)).filter(
        (one) => one?.record.state === 'open' && one.record.check === check,
      )
      const toEnd = open.flatMap((one) => (one && this.#mayEnd(one.record, look, now) ? [one] : []))
      for (const one of toEnd) changed.push(this.#end(change, organizationId, one, now))
      await this.#changed(change, organizationId, changed)
      return { remain: seen.length + open.length > toEnd.length, ended: toEnd.map(({ record }) => record.id) }
    })
    for (const id of ended) this.#absentSince.delete(id)
    return remain
  }

  /** Opens or changes one finding in the write that causes it. */
  async observe(change: Transaction, organizationId: string, seen: Observed): Promise<void> {
    const stored = await change.find(findings, 'subject', [seen.kind, seen.subject])
    const changed = this.#observe(change, organizationId, stored, seen, { check: '' }, this.#options.clock.now())
    await this.#changed(change, organizationId, [changed])
  }

  /** Ends one finding in the write that repairs it. Does nothing if it is not open. */
  async end(change: Transaction, organizationId: string, name: Pick<Observed, 'kind' | 'subject'>): Promise<void> {
    const stored = await change.find(findings, 'subject', [name.kind, name.subject])
    if (stored?.record.state !== 'open') return
    await this.#changed(change, organizationId, [this.#end(change, organizationId, stored, this.#options.clock.now())])
  }

  /** Removes findings that ended 30 days ago, at most `limit`. Returns whether more remain. */
  async removeEnded(limit: number): Promise<boolean> {
    const { database, clock } = this.#options
    const { start } = within(endedKey())
    const { start: end } = within(endedKey(clock.now() + 1))
    let count = 0
    for await (const { key } of database.kv.range({ start, end, limit, whole: true })) {
      const [organizationId = '', id = ''] = unpack(key).slice(-2).map(String)
      const stored = await database.get(findings, { organizationId }, id)
      const change = new Change()
      if (stored) removeFinding(change, organizationId, stored)
      await database.commit(change.delete(unpack(key)))
      count++
    }
    return count === limit
  }

  /** Returns the finding if its channels may report the change. */
  #observe(
    change: Change,
    organizationId: string,
    stored: Stored<Finding> | undefined,
    seen: Observed,
    observer: Observer,
    now: number,
  ): ChangedFinding | undefined {
    const newId = (): string => this.#options.database.newId('fnd', now)
    const next = nextFinding(stored?.record, seen, observer, { now, newId, isRunning: (daemon) => this.#isRunning(daemon) })
    if (!next) return undefined
    const { finding, does } = next
    if (!stored) insertFinding(change, organizationId, finding)
    else if (does === 'supersede') supersedeFinding(change, organizationId, stored, finding)
    else replaceFinding(change, organizationId, stored, finding)
    return does === 'adopt' ? undefined : { finding, before: does === 'supersede' ? undefined : stored?.record }
  }

  #end(change: Change, organizationId: string, stored: Stored<Finding>, now: number): ChangedFinding {
    const ended = endedFinding(stored.record, now)
    replaceFinding(change, organizationId, stored, ended)
    return { finding: ended, before: stored.record }
  }

  async #changed(change: Change, organizationId: string, all: readonly (ChangedFinding | undefined)[]): Promise<void> {
    const changed = all.filter((one) => one !== undefined)
    if (changed.length > 0) await this.#options.onChanged?.(change, organizationId, changed)
  }

  #mayEnd(finding: Finding, { daemon, coversFinding }: Look, now: number): boolean {
    const isKnownElsewhere = finding.daemon !== undefined && finding.daemon !== daemon && this.#isRunning(finding.daemon)
    if (isKnownElsewhere) return false
    if (coversFinding && !coversFinding(finding)) return false
    const { endsAfterMs = 0 } = factsOf(finding.kind)
    if (endsAfterMs === 0) return true
    const since = this.#absentSince.get(finding.id) ?? now
    this.#absentSince.set(finding.id, since)
    return now - since >= endsAfterMs
  }

  #isRunning(daemon: string): boolean {
    return this.#options.isRunning?.(daemon) ?? false
  }

  async #openOf(organizationId: string, check: string): Promise<readonly Stored<Finding>[]> {
    const { rows } = await this.#options.database.list(
      findings,
      { organizationId },
      {
        index: 'check',
        values: [check],
        limit: maxOpen,
        forWork: true,
      },
    )
    return rows
  }
}

/** Maximum number of open findings of one check and organization. */
const maxOpen = 10_000
/** Maximum number of findings per transaction. */
const maxAtOnce = 200
