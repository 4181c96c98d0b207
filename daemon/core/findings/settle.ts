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

/** Adds the consequences of a changed finding to its write; `before` is undefined for a new finding. */
export type FindingChanged = (change: Change, organizationId: string, finding: Finding, before: Finding | undefined) => Promise<void> | void

export interface SettleOptions {
  readonly database: Database
  readonly clock: Clock
  readonly onChanged?: FindingChanged
  /** Whether the daemon of this id runs. Others end the findings from the memory of a daemon that left, or adopt them if they persist. */
  readonly isRunning?: (daemon: string) => boolean
}

/** Result of one look of a check at one organization. */
export interface Look extends Observer {
  readonly organizationId: string
  readonly observed: readonly Observed[]
  /** Whether this look examined the finding, and may end it; by default it examined all findings of the check. */
  readonly coversFinding?: (finding: Finding) => boolean
  /** Whether this look ends the finding although the daemon that knows of it still runs. */
  readonly isDisproved?: (finding: Finding) => boolean
}

export class Settle {
  readonly #options: SettleOptions
  /** First absence of findings that need two absences, by id. Only in memory: after a start, the time begins again. */
  readonly #absentSince = new Map<string, number>()

  constructor(options: SettleOptions) {
    this.#options = options
  }

  /** Writes the changes in one transaction. Returns whether findings of the check remain open. */
  async settle(look: Look): Promise<boolean> {
    const { database, clock } = this.#options
    const { organizationId } = look
    return transact(database, { organizationId }, async (change) => {
      const now = clock.now()
      const open = await this.#openOf(organizationId, look.check)
      const seen = new Map(look.observed.map((one) => [nameOf(one), one]))
      for (const one of seen.values()) await this.#observe(change, organizationId, one, look, now)
      let remain = seen.size
      for (const stored of open) {
        if (seen.has(nameOf(stored.record))) this.#absentSince.delete(stored.record.id)
        else if (this.#mayEnd(stored.record, look, now)) await this.#end(change, organizationId, stored, now)
        else remain++
      }
      return remain > 0
    })
  }

  /** Opens or changes one finding in the write that causes it. */
  async observe(change: Transaction, organizationId: string, seen: Observed): Promise<void> {
    await this.#observe(change, organizationId, seen, { check: '' }, this.#options.clock.now())
  }

  /** Ends one finding in the write that repairs it. Does nothing if it is not open. */
  async end(change: Transaction, organizationId: string, name: Pick<Observed, 'kind' | 'subject'>): Promise<void> {
    const stored = await change.find(findings, 'subject', [name.kind, name.subject])
    if (stored?.record.state === 'open') await this.#end(change, organizationId, stored, this.#options.clock.now())
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

  async #observe(change: Transaction, organizationId: string, seen: Observed, observer: Observer, now: number): Promise<void> {
    const stored = await change.find(findings, 'subject', [seen.kind, seen.subject])
    const newId = (): string => this.#options.database.newId('fnd', now)
    const next = nextFinding(stored?.record, seen, observer, { now, newId, isRunning: (daemon) => this.#isRunning(daemon) })
    if (!next) return
    const { finding, does } = next
    if (!stored) insertFinding(change, organizationId, finding)
    else if (does === 'supersede') supersedeFinding(change, organizationId, stored, finding)
    else replaceFinding(change, organizationId, stored, finding)
    if (does === 'adopt') return
    await this.#options.onChanged?.(change, organizationId, finding, does === 'supersede' ? undefined : stored?.record)
  }

  async #end(change: Change, organizationId: string, stored: Stored<Finding>, now: number): Promise<void> {
    const ended = endedFinding(stored.record, now)
    replaceFinding(change, organizationId, stored, ended)
    await this.#options.onChanged?.(change, organizationId, ended, stored.record)
  }

  #mayEnd(finding: Finding, { daemon, coversFinding, isDisproved }: Look, now: number): boolean {
    const isKnownElsewhere = finding.daemon !== undefined && finding.daemon !== daemon && this.#isRunning(finding.daemon)
    if (isKnownElsewhere && !isDisproved?.(finding)) return false
    if (coversFinding && !coversFinding(finding)) return false
    const { endsAfterMs = 0 } = factsOf(finding.kind)
    if (endsAfterMs === 0) return true
    const since = this.#absentSince.get(finding.id) ?? now
    this.#absentSince.set(finding.id, since)
    if (now - since < endsAfterMs) return false
    this.#absentSince.delete(finding.id)
    return true
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
