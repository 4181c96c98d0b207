/**
 * Walks the whole store and compares all rows that must agree. It changes nothing, uses constant memory, and works while the store is in
 * use. It reports a problem only if a second look confirms it.
 */
import { pastBackupsFamily } from '../backup/past-backups.ts'
import type { ContentRef } from '../content.ts'
import type { Database } from '../database.ts'
import type { Damage } from '../engine/store-kv.ts'
import { StoreFailure, type Bytes, type Entry } from '../kv.ts'
import { queueLength, rowOfAge, rowOfSince, sinceFamily, toQueueEntry, type QueueEntry } from '../queue.ts'
import { globalKey, type AnyKind } from '../record-kind.ts'
import { formatFamily, versionsFamily } from '../upgrade/store-form.ts'
import { describeKey, elementsOf, pack, within, type Element } from '../tuple.ts'
import { Balance } from './verify-balance.ts'
import { ContentMeasure, contentSummary, missingContents, verifyContent, type ContentOwner } from './verify-content.ts'
import { RecordCounts, type CountedKind } from './verify-counts.ts'
import { distinctRows, missingRows, readRecord, verifyIndexRow, verifyRecord } from './verify-records.ts'

/** Keys that are not records, such as `[organization, 'event', …]` or, when global, `['', 'capture.pending', …]`. */
export interface Family {
  /** Second element of the keys. */
  readonly name: string
  readonly global?: boolean
  /** Returns the problems of a row, one sentence each. */
  check?(key: readonly Element[], value: Bytes): Promise<readonly string[]> | readonly string[]
}

/** Knowledge that the store lacks. The functions must read current rows and not rely on earlier results. */
export interface VerifyOptions {
  readonly kinds: readonly AnyKind[]
  readonly families?: readonly Family[]
  readonly counted?: readonly CountedKind[]
  /** Damage found earlier than the walk; see `StoreKv.check`. */
  readonly damage?: readonly Damage[]
  /** Numbers of lost group commits; see `LevelKv`. */
  readonly missingGroups?: readonly number[]
  /** Returns problems of a record in addition to its schema and index rows, one sentence each. */
  checkRecord?(kind: string, organizationId: string, record: unknown): Promise<readonly string[]>
  /** Ownership of contents. Without it, contents are only checked for gaps. */
  readonly contents?: ContentOwnership
  /** Returns problems of a queue entry, one sentence each. */
  checkQueueEntry?(entry: QueueEntry): Promise<readonly string[]>
}

/** Each content belongs to one record and must match the reference in the record. */
export interface ContentOwnership {
  /** Returns the references of a record. */
  of(kind: string, organizationId: string, record: unknown): readonly ContentRef[]
  /** Returns the reference to a content in its owner. Called only after a mismatch. */
  owner: ContentOwner
}

/** Totals and problems, one sentence each. The report lists at most 1,000 problems. */
export interface VerifyReport {
  readonly records: number
  readonly indexRows: number
  readonly contents: number
  readonly queueEntries: number
  readonly problems: readonly string[]
  /** Store files are damaged, and reading their rows could end the process. The walk did not take place. */
  readonly isUnread?: boolean
}

const maxProblems = 1000

/** Compares all rows of the store. Without problems, no row is missing, left over or changed. */
export async function verify(database: Database, options: VerifyOptions): Promise<VerifyReport> {
  const damage = (options.damage ?? []).filter(({ isOfValue }) => !isOfValue) // the walk reads all values
  if (damage.some(({ isGone }) => !isGone)) return unread(damage.map(({ sentence }) => sentence))
  const verifier = new Verifier(database, { ...options, damage })
  await verifier.run()
  return verifier.report()
}

/** Adds a problem before the other problems of a report. */
export const withProblem = (report: VerifyReport, found: { readonly problem: string } | undefined): VerifyReport =>
  found ? { ...report, problems: [found.problem, ...report.problems] } : report

/** Returns the report for a store with damaged files. */
export const unread = (problems: readonly string[]): VerifyReport => ({
  ...{ records: 0, indexRows: 0, contents: 0, queueEntries: 0 },
  problems: problems.length > maxProblems ? [...problems.slice(0, maxProblems), `And ${problems.length - maxProblems} more.`] : problems,
  isUnread: true,
})

type Check = (key: readonly Element[], entry: Entry) => void | Promise<void>
/** Check of each family of keys, by its name. Names of global families start with a slash. */
type Checks = Map<string, Check>

/**
 * The first walk adds up expected and actual rows without look-ups. A second walk with look-ups runs only for sums that differ, to name the
 * problems.
 */
class Verifier {
  readonly #database: Database
  readonly #options: VerifyOptions
  readonly #rows = new Map<AnyKind, Balance>()
  readonly #contents = new Balance()
  readonly #recordCounts: RecordCounts
  /** Contents that are being written; always few. */
  readonly #open = new Set<string>()
  readonly #counts = { records: 0, indexRows: 0, contents: 0, queueEntries: 0 }
  readonly #problems: string[] = []
  #unlisted = 0
  /** Previous key of the walk. */
  #last: Bytes = Buffer.alloc(0)
  #content: ContentMeasure | undefined

  constructor(database: Database, options: VerifyOptions) {
    this.#database = database
    this.#options = options
    this.#recordCounts = new RecordCounts(options.counted ?? [])
  }

  async run(): Promise<void> {
    const { missingGroups = [], damage = [] } = this.#options
    this.#report(...damage.map(({ sentence }) => sentence))
    await this.#walk(this.#countingChecks(), (key, isKey) =>
      this.#report(`${describeKey(key)}: ${isKey ? 'no such family of keys' : 'not a key of this store'}.`),
    )
    if (this.#content) this.#countContent(this.#content)
    const uneven = [...this.#rows].flatMap(([kind, balance]) => (balance.even ? [] : [kind]))
    if (uneven.length > 0 || !this.#contents.even) await this.#walk(this.#explainingChecks(uneven))
    await this.#compareQueueLength()
    this.#report(...(await this.#recordCounts.problems(this.#database)))
    if (missingGroups.length === 0) return
    this.#report(`The log of writes is damaged: ${missingGroups.length} group commits from number ${missingGroups[0]} on are lost.`)
  }

  report(): VerifyReport {
    const more = this.#unlisted > 0 ? [`And ${this.#unlisted} more.`] : []
    return { ...this.#counts, problems: [...this.#problems, ...more] }
  }

  #report(...problems: readonly string[]): void {
    for (const problem of problems) {
      if (this.#problems.length < maxProblems) this.#problems.push(problem)
      else this.#unlisted++
    }
  }

  /** Reports a row that is out of order: its block is damaged, and other rows may be missing. */
  #requireOrder(key: Bytes): void {
    if (Buffer.compare(this.#last, key) >= 0) this.#report(`${describeKey(key)}: it is out of order; the store is damaged.`)
    this.#last = key
  }

  /** Walks to the end and skips unreadable values. */
  async #walk(checks: Checks, unknown?: (key: Bytes, isKey: boolean) => void): Promise<void> {
    this.#last = Buffer.alloc(0)
    for (let start: Bytes = Buffer.of(0); ;) {
      try {
        for await (const entry of this.#database.kv.range({ start, end: Buffer.of(0xff) })) {
          this.#requireOrder(entry.key)
          const key = namedKey(entry.key)
          if (key && this.#content && !this.#content.continues(key)) this.#countContent(this.#content)
          const check = key && checkOf(checks, key)
          const checked = this.#checkEntry(entry, () => (check ? check(key, entry) : unknown?.(entry.key, key !== undefined)))
          if (checked) await checked
        }
        return
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        if (error.key === undefined) return this.#report(`The walk had to stop: ${error.message}`)
        start = Buffer.concat([this.#unreadableKey(error), Buffer.of(0)])
      }
    }
  }

  /** Reports an error of a check and continues with the next entry. The unreadable value may be that of another entry. */
  #checkEntry({ key }: Entry, check: () => void | Promise<void>): void | Promise<void> {
    const skip = (error: unknown): void => {
      if (isUnreadable(error)) this.#report(`${describeKey(key)}: its value cannot be read: ${error.message}.`)
      else this.#unreadableKey(error)
    }
    try {
      return check()?.catch(skip)
    } catch (error) {
      return skip(error)
    }
  }

  /** Reports an unreadable value once and returns its key. Throws all other errors. */
  #unreadableKey(error: unknown): Bytes {
    if (!(error instanceof StoreFailure) || error.key === undefined) throw error
    const problem = `${describeKey(error.key)}: ${error.message}`
    if (!this.#problems.includes(problem)) this.#report(problem)
    return error.key
  }

  #countingChecks(): Checks {
    const checks: Checks = new Map()
    for (const kind of this.#options.kinds) this.#countKind(kind, checks)
    for (const family of this.#options.families ?? [])
      checks.set(familyName(family.global ?? false, family.name), this.#familyCheck(family))
    checks.set(familyName(false, 'content'), (key, { value }) => {
      this.#content ??= new ContentMeasure(String(key[0]), String(key[2]))
      this.#content.add(key, value)
    })
    checks.set(familyName(true, 'content.open'), (key) => {
      this.#shape(key, key.length === 4)
      this.#open.add(openName(String(key[2]), String(key[3])))
    })
    checks.set(familyName(true, 'queue'), (key, entry) => this.#queueRow(key, entry))
    checks.set(familyName(true, sinceFamily), (key, entry) => this.#sinceRow(key, entry))
    for (const name of [versionsFamily, formatFamily]) checks.set(familyName(true, name), (key) => this.#shape(key, key.length === 2))
    checks.set(familyName(true, pastBackupsFamily), (key) => this.#shape(key, key.length === 3))
    checks.set(familyName(true, 'settings.changes'), (key) => this.#shape(key, key.length === 2))
    checks.set(familyName(true, 'expire'), (key) => this.#shape(key, typeof key[2] === 'number' && key[3] instanceof Uint8Array))
    return checks
  }

  #countKind(kind: AnyKind, checks: Checks): void {
    const options = this.#options
    const rows = new Balance()
    this.#rows.set(kind, rows)
    checks.set(familyName(false, kind.name), (key, entry) => {
      this.#counts.records++
      const organizationId = String(key[0])
      const { record, problem } = readRecord(kind, key, entry)
      this.#recordCounts.meet(organizationId, kind.name, record)
      if (problem !== undefined) return this.#report(`${kind.name} ${describeKey(entry.key)}: ${problem}`)
      for (const row of distinctRows(kind, organizationId, record)) rows.expect(row.key, row.value)
      for (const ref of options.contents?.of(kind.name, organizationId, record) ?? []) {
        this.#contents.expect(Buffer.from(organizationId), contentSummary(ref))
      }
      return options.checkRecord && this.#checkRecord(kind, key, entry)
    })
    for (const name of rowFamilies(kind)) {
      checks.set(name, (_, { key, value }) => {
        this.#counts.indexRows++
        rows.meet(key, value)
      })
    }
  }

  async #checkRecord(kind: AnyKind, key: readonly Element[], entry: Entry): Promise<void> {
    const check = async (organizationId: string, record: unknown): Promise<readonly string[]> =>
      (await this.#options.checkRecord?.(kind.name, organizationId, record)) ?? []
    this.#report(...(await verifyRecord(this.#database, kind, key, entry, check)))
  }

  #countContent(measure: ContentMeasure): void {
    const { organizationId, id } = measure
    this.#content = undefined
    this.#counts.contents++
    if (!this.#options.contents) {
      this.#report(...measure.gaps().map((gap) => `content ${id} of ${organizationId}: ${gap}`))
    } else if (!this.#open.has(openName(organizationId, id))) {
      this.#contents.meet(Buffer.from(organizationId), contentSummary(measure.ref()))
    }
  }

  #explainingChecks(uneven: readonly AnyKind[]): Checks {
    const database = this.#database
    const contents = this.#contents.even ? undefined : this.#options.contents
    const checks: Checks = new Map()
    for (const kind of this.#options.kinds) {
      const rows = uneven.includes(kind) ? missingRows(database, kind) : undefined
      checks.set(familyName(false, kind.name), async (key, entry) => {
        const check = async (organizationId: string, record: unknown): Promise<readonly string[]> => {
          const refs = (contents && this.#options.contents?.of(kind.name, organizationId, record)) || []
          return [...((await rows?.(organizationId, record)) ?? []), ...(await missingContents(database, organizationId, refs))]
        }
        this.#report(...(await verifyRecord(database, kind, key, entry, check)))
      })
      if (!rows) continue
      const row: Check = async (key, entry) => this.#report(...(await verifyIndexRow(database, kind, key, entry)))
      for (const name of rowFamilies(kind)) checks.set(name, row)
    }
    if (!contents) return checks
    let last = ''
    checks.set(familyName(false, 'content'), async ([organizationId, , id]) => {
      if (openName(String(organizationId), String(id)) === last) return
      last = openName(String(organizationId), String(id))
      this.#report(...(await verifyContent(database, contents.owner, String(organizationId), String(id))))
    })
    return checks
  }

  #familyCheck(family: Family): Check {
    return async (key, entry) => {
      const first = (await family.check?.(key, entry.value)) ?? []
      if (first.length === 0) return
      const again = await this.#database.kv.get(entry.key)
      const second = again ? ((await family.check?.(key, again.value)) ?? []) : []
      this.#report(...second.map((problem) => `${describeKey(entry.key)}: ${problem}`))
    }
  }

  #shape(key: readonly Element[], right: boolean): void {
    if (!right) this.#report(`${describeKey(pack(key))}: its key does not have the form of its family.`)
  }

  async #queueRow(key: readonly Element[], entry: Entry): Promise<void> {
    this.#counts.queueEntries++
    if (key.length !== 6 || typeof key[4] !== 'number') return this.#shape(key, false)
    if ((await this.#queueProblems(entry)).length === 0) return
    const again = await this.#database.kv.get(entry.key)
    const problems = again ? await this.#queueProblems(again) : []
    this.#report(...problems.map((problem) => `queue entry ${describeKey(entry.key)}: ${problem}`))
  }

  /** Reports a row of the age index (`queue.since`) without a queue entry. Reads the row again if the entry moved during the walk. */
  async #sinceRow(key: readonly Element[], entry: Entry): Promise<void> {
    if (key.length !== 4 || typeof key[2] !== 'number') return this.#shape(key, false)
    if (await this.#hasEntry(entry)) return
    const again = await this.#database.kv.get(entry.key)
    if (again && !(await this.#hasEntry(again))) this.#report(`age ${describeKey(entry.key)}: no queue entry belongs to it.`)
  }

  async #hasEntry(age: Entry): Promise<boolean> {
    try {
      return (await this.#database.kv.get(rowOfSince(age))) !== undefined
    } catch {
      return false // an unreadable value refers to no row
    }
  }

  async #queueProblems(row: Entry): Promise<readonly string[]> {
    let entry: QueueEntry
    try {
      entry = toQueueEntry(row)
    } catch {
      return ['its value cannot be read.']
    }
    const age = rowOfAge(entry)
    if (age && !(await this.#database.kv.get(age))) return ['it was postponed, and its row of ages is missing.']
    return (await this.#options.checkQueueEntry?.(entry)) ?? []
  }

  /** Compares the counter with the number of rows. Counts again if the queue changed during the walk. */
  async #compareQueueLength(): Promise<void> {
    let counted = this.#counts.queueEntries
    for (let tries = 0; tries < 5; tries++) {
      const before = await queueLength(this.#database)
      if (before === counted) return
      counted = 0
      for await (const _ of this.#database.kv.range(within(globalKey('queue')))) counted++
      const after = await queueLength(this.#database)
      if (counted === after) return
      if (before === after) return this.#report(`The queue has ${counted} entries, but its counter says ${after}.`)
    }
  }
}

const familyName = (global: boolean, name: string): string => (global ? `/${name}` : name)
const openName = (organizationId: string, id: string): string => `${organizationId}/${id}`

const rowFamilies = (kind: AnyKind): string[] => [
  ...Object.keys(kind.indexes).map((index) => familyName(false, `${kind.name}#${index}`)),
  ...Object.keys(kind.unique).map((index) => familyName(false, `${kind.name}!${index}`)),
  ...Object.keys(kind.lookups).map((index) => familyName(true, `${kind.name}@${index}`)),
]

/** Records may also be global. */
const checkOf = (checks: Checks, [organizationId, name]: readonly Element[]): Check | undefined =>
  (organizationId === '' ? checks.get(familyName(true, String(name))) : undefined) ?? checks.get(familyName(false, String(name)))

/** Errors of decoding. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError

function namedKey(key: Bytes): Element[] | undefined {
  const elements = elementsOf(key)
  return typeof elements?.[0] === 'string' && typeof elements[1] === 'string' ? elements : undefined
}
