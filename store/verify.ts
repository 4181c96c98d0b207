/**
 * Walks the whole store once and compares everything with everything that must agree with it. Nothing is changed, memory
 * stays constant, and the store may be in use: what looks wrong counts only when a second look finds it unchanged.
 */
import { contentRowKey, openContentKey, type ContentRef } from './content.ts'
import type { Database } from './database.ts'
import { StoreFailure, type Bytes, type Entry } from './kv.ts'
import { queueLength, toQueueEntry, type QueueEntry } from './queue.ts'
import { globalKey } from './record-kind.ts'
import { pack, unpack, within, type Element } from './tuple.ts'
import { ContentMeasure, differences } from './verify-content.ts'
import { describeKey, verifyIndexRow, verifyRecord, type AnyKind, type RecordCheck } from './verify-records.ts'

/** Keys that are no records, such as `[organization, 'event', …]` or, when global, `['', 'capture.pending', …]`. */
export interface Family {
  /** The element after the organization. */
  readonly name: string
  readonly global?: boolean
  /** What is wrong with a row, one sentence each. */
  check?(key: readonly Element[], value: Bytes): Promise<readonly string[]> | readonly string[]
}

/** What the store cannot know by itself. The functions answer from what is stored now, not from what they were given before. */
export interface VerifyOptions {
  readonly kinds: readonly AnyKind[]
  readonly families?: readonly Family[]
  /** Numbers of lost group commits; see `LevelKv`. */
  readonly missingGroups?: readonly number[]
  /** What is wrong with a record beyond its schema and its index rows, one sentence each. */
  checkRecord?(kind: string, organizationId: string, record: unknown): Promise<readonly string[]>
  /** How records own content. Without it, content is only looked at by itself. */
  readonly contents?: ContentOwnership
  /** What is wrong with a queue entry, one sentence each. */
  checkQueueEntry?(entry: QueueEntry): Promise<readonly string[]>
}

/** Every content belongs to the record that refers to it, and is as that record says. */
export interface ContentOwnership {
  /** What a record refers to. */
  of(kind: string, organizationId: string, record: unknown): readonly ContentRef[]
  /** The owner's reference; undefined when nothing owns the content. Asked only when something does not agree. */
  owner(organizationId: string, contentId: string): Promise<ContentRef | undefined>
}

/** How much there is, and every problem in one sentence; at most 1,000 are told. */
export interface VerifyReport {
  readonly records: number
  readonly indexRows: number
  readonly contents: number
  readonly queueEntries: number
  readonly problems: readonly string[]
}

const problemsMax = 1000

/** Compares everything in the store. An empty list of problems means that nothing is lost, left over or changed. */
export async function verify(database: Database, options: VerifyOptions): Promise<VerifyReport> {
  const walk = new Walk(database, options)
  await walk.run()
  return walk.report()
}

type Check = (key: readonly Element[], entry: Entry) => void | Promise<void>

/**
 * The first walk adds up, without a look-up, what records say should be there and what is there. Only for what does not come
 * out even, a second walk looks everything up and names it.
 */
class Walk {
  readonly #database: Database
  readonly #options: VerifyOptions
  /** By the sign of a global key, or none, and the family's name; for each of the two walks. */
  readonly #adding = new Map<string, Check>()
  readonly #explaining = new Map<string, Check>()
  readonly #rowBalances = new Map<AnyKind, Balance>()
  readonly #contentBalance = new Balance()
  /** Contents that are being written: few, since each belongs to a message that is just coming in. */
  readonly #open = new Set<string>()
  readonly #counts = { records: 0, indexRows: 0, contents: 0, queueEntries: 0 }
  readonly #problems: string[] = []
  #untold = 0
  #content: ContentMeasure | undefined

  constructor(database: Database, options: VerifyOptions) {
    this.#database = database
    this.#options = options
    for (const kind of options.kinds) this.#addKind(kind)
    for (const { global = false, ...family } of options.families ?? []) {
      this.#adding.set(familyName(global, family.name), this.#familyCheck(family))
    }
    this.#adding.set(familyName(false, 'content'), (key, { value }) => this.#contentRow(key, value))
    this.#adding.set(familyName(true, 'content.open'), (key) => this.#openContent(key))
    this.#adding.set(familyName(true, 'queue'), (key, entry) => this.#queueRow(key, entry))
    this.#adding.set(familyName(true, 'expire'), (key) => this.#shape(key, typeof key[2] === 'number' && key[3] instanceof Uint8Array))
  }

  async run(): Promise<void> {
    await this.#walk((entry) => this.#entry(entry))
    if (this.#content) this.#finishContent(this.#content)
    for (const [kind, balance] of this.#rowBalances) if (!balance.even) this.#explainRows(kind)
    if (!this.#contentBalance.even) this.#explainContents()
    if (this.#explaining.size > 0) await this.#walk((entry) => this.#explain(entry))
    await this.#queueLength()
    const missing = this.#options.missingGroups ?? []
    if (missing.length === 0) return
    this.#tell(`The log of writes is damaged: ${missing.length} group commits from number ${missing[0]} on are lost.`)
  }

  report(): VerifyReport {
    const more = this.#untold > 0 ? [`And ${this.#untold} more.`] : []
    return { ...this.#counts, problems: [...this.#problems, ...more] }
  }

  #tell(...problems: readonly string[]): void {
    for (const problem of problems) {
      if (this.#problems.length < problemsMax) this.#problems.push(problem)
      else this.#untold++
    }
  }

  /** Walks to the end; past values that cannot be read. */
  async #walk(visit: (entry: Entry) => void | Promise<void>): Promise<void> {
    for (let start: Bytes | undefined = Buffer.of(0); start;) {
      try {
        for await (const entry of this.#database.kv.range({ start, end: Buffer.of(0xff) })) {
          const visited = visit(entry)
          if (visited) await visited
        }
        return
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        const problem = error.key ? `${describeKey(error.key)}: ${error.message}` : `The walk had to stop: ${error.message}`
        if (!this.#problems.includes(problem)) this.#tell(problem)
        start = error.key && Buffer.concat([error.key, Buffer.of(0)])
      }
    }
  }

  #entry(entry: Entry): void | Promise<void> {
    const key = elementsOf(entry.key)
    if (!key) return this.#tell(`${describeKey(entry.key)}: not a key of this store.`)
    if (this.#content && !this.#content.continues(key)) this.#finishContent(this.#content)
    const check = checkOf(this.#adding, key)
    if (!check) return this.#tell(`${describeKey(entry.key)}: no such family of keys.`)
    return check(key, entry)
  }

  #explain(entry: Entry): void | Promise<void> {
    const key = elementsOf(entry.key)
    return key && checkOf(this.#explaining, key)?.(key, entry)
  }

  #addKind(kind: AnyKind): void {
    const { checkRecord, contents } = this.#options
    const balance = new Balance()
    this.#rowBalances.set(kind, balance)
    this.#adding.set(familyName(false, kind.name), async (key, entry) => {
      this.#counts.records++
      const organizationId = String(key[0])
      const record = recordOf(kind, entry.value)
      for (const row of record === undefined ? [] : distinctRows(kind, organizationId, record)) balance.expect(row.key, row.value)
      for (const ref of (record !== undefined && contents?.of(kind.name, organizationId, record)) || []) {
        this.#contentBalance.expect(contentSummary(organizationId, ref))
      }
      this.#tell(...(await verifyRecord(this.#database, kind, key, entry, (organization, value) => judgeBy(checkRecord, kind, organization, value))))
    })
    const row: Check = (_, { key, value }) => {
      this.#counts.indexRows++
      balance.meet(key, value)
    }
    for (const name of rowFamilies(kind)) this.#adding.set(name, row)
  }

  #explainRows(kind: AnyKind): void {
    this.#explaining.set(familyName(false, kind.name), async (key, entry) =>
      this.#tell(...(await verifyRowsOf(this.#database, kind, key, entry))),
    )
    const row: Check = async (key, entry) => this.#tell(...(await verifyIndexRow(this.#database, kind, key, entry)))
    for (const name of rowFamilies(kind)) this.#explaining.set(name, row)
  }

  #familyCheck(family: Family): Check {
    return async (key, entry) => {
      const first = (await family.check?.(key, entry.value)) ?? []
      if (first.length === 0) return
      const again = await this.#database.kv.get(entry.key)
      const second = again ? ((await family.check?.(key, again.value)) ?? []) : []
      this.#tell(...second.map((problem) => `${describeKey(entry.key)}: ${problem}`))
    }
  }

  #shape(key: readonly Element[], right: boolean): void {
    if (!right) this.#tell(`${describeKey(pack(key))}: its key has another form than the others of its family.`)
  }

  #contentRow(key: readonly Element[], value: Bytes): void {
    this.#content ??= new ContentMeasure(key)
    this.#content.add(key, value)
  }

  async #finishContent(first: ContentMeasure): Promise<void> {
    this.#counts.contents++
    const { organizationId, id } = first
    if ((await this.#contentProblems(first)).length === 0) return
    const again = new ContentMeasure([organizationId, 'content', id])
    for await (const { key, value } of this.#database.kv.range(within([organizationId, 'content', id]))) again.add(unpack(key), value)
    if (again.rows > 0)
      this.#tell(...(await this.#contentProblems(again)).map((problem) => `content ${id} of ${organizationId}: ${problem}`))
  }

  async #contentProblems(measure: ContentMeasure): Promise<readonly string[]> {
    const { organizationId, id } = measure
    const open = await this.#database.kv.get(pack(openContentKey(organizationId, id)))
    const owner = await this.#options.contentOwner?.(organizationId, id)
    if (owner && open) return ['it has an owner and still its marker: the next start would remove it.']
    if (owner) return differences(measure, owner)
    return this.#options.contentOwner && !open ? ['nothing refers to it.'] : measure.gaps()
  }

  async #queueRow(key: readonly Element[], entry: Entry): Promise<void> {
    this.#counts.queueEntries++
    if (key.length !== 5 || typeof key[3] !== 'number') return this.#shape(key, false)
    const problems = async (row: Entry): Promise<readonly string[]> => {
      try {
        return (await this.#options.checkQueueEntry?.(toQueueEntry(row))) ?? []
      } catch (error) {
        if (error instanceof SyntaxError) return ['its value cannot be read.']
        throw error
      }
    }
    if ((await problems(entry)).length === 0) return
    const again = await this.#database.kv.get(entry.key)
    if (again) this.#tell(...(await problems(again)).map((problem) => `queue entry ${describeKey(entry.key)}: ${problem}`))
  }

  /** The counter must tell the number of rows; it is counted again when the queue moved during the walk. */
  async #queueLength(): Promise<void> {
    let counted = this.#counts.queueEntries
    for (let tries = 0; tries < 5; tries++) {
      const before = await queueLength(this.#database)
      if (before === counted) return
      counted = 0
      for await (const _ of this.#database.kv.range(within(globalKey('queue')))) counted++
      const after = await queueLength(this.#database)
      if (counted === after) return
      if (before === after) return this.#tell(`The queue has ${counted} entries, but its counter says ${after}.`)
    }
  }
}

const familyName = (global: boolean, name: string): string => (global ? `/${name}` : name)

function elementsOf(key: Bytes): Element[] | undefined {
  try {
    const elements = unpack(key)
    const named = typeof elements[0] === 'string' && typeof elements[1] === 'string'
    return named && Buffer.compare(pack(elements), key) === 0 ? elements : undefined
  } catch {
    return undefined
  }
}
