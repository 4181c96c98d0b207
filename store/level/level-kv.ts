/**
 * The embedded store: LevelDB in one folder, owned by one process. Writes that wait for the same disk sync share it
 * (group commit). Any failed write is fatal: LevelDB 1.20 would lose later writes without an error.
 */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Level } from 'level'
import { loadNativeCode } from '#config/own-files.ts'
import { OneDaemon } from '../daemons/one-daemon.ts'
import {
  DamagedFolder,
  StoreDamaged,
  StoreFailure,
  StoreInUse,
  StoreUnavailable,
  type Bytes,
  type Entry,
  type Range,
  type Write,
  type WriteResult,
} from '../kv.ts'
import { counterOf, kindOf, kinds, payloadOf, pointerOf, seal, versionOf, type Pointer } from '../engine/codec.ts'
import type { Damage, Rest, StoreKv } from '../engine/store-kv.ts'
import { damagedValues, rowsOf, valueDamage } from './check-values.ts'
import { collectSegments } from './collect.ts'
import { groupStamp, missingGroups, noNumber } from './group-stamps.ts'
import { checkedFolder, dropTornGroup, mendedFolder, type CheckedFolder } from './checked-folder.ts'
import type { KnownDamage } from './known-damage.ts'
import { isCorruption, LevelReads, type Engine } from './level-reads.ts'
import { lastGroupInLog, mayHoldGroup } from './log-tail.ts'
import { planGroup, pointTo, sizeOf, type Operation } from '../engine/group.ts'
import { GroupCommit, type Committed, type GroupOptions } from '../engine/group-commit.ts'
import type { StoreSnapshot } from '../engine/snapshot.ts'
import { snapshotRows } from './snapshot.ts'
import { isAnyTorn } from './torn-group.ts'
import { ValueLog, type PlacedValues } from './value-log.ts'

/** A method that only LevelDB has, and not the browser stores. */
interface Compacting {
  compactRange(start: Uint8Array, end: Uint8Array): Promise<void>
}

export interface LevelOptions extends GroupOptions {
  /** Larger values go to the value log, in bytes. */
  readonly maxInline?: number
  readonly segmentBytes?: number
  /** LevelDB's memory for rows that are not in tables yet, in bytes. It doubles while a table is being written. */
  readonly writeBufferSize?: number
  /** LevelDB's cache of table blocks, in bytes. */
  readonly cacheSize?: number
  /** Compares all files with their checksums first and refuses to open a damaged folder. */
  readonly mustBeWhole?: boolean
  /** Starts do not check tables above this total size, in octets. */
  readonly quickTableBytes?: number
  /** For tests that make the n-th write fail. */
  readonly beforeBatch?: (operations: number) => void
}

const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const
/** Internal keys sort after all tuples. */
const versionKey = Buffer.of(0xff, 0x01)
const mebibyte = 1024 * 1024
/** Measured; see `decisions/0011-value-log.md` of the store. */
const defaults = { maxInline: 2 * 1024, segmentBytes: 128 * mebibyte, writeBufferSize: 16 * mebibyte, cacheSize: 16 * mebibyte }

const behindAll = Buffer.of(0xff, 0xff)
/** Rows of one write of `acceptLosses`. */
const rowsAtOnce = 256
const endOfNoGroup: Operation = { type: 'del', key: noNumber, value: Buffer.alloc(0) }

export class LevelKv implements StoreKv {
  readonly #db: Engine
  readonly #log: ValueLog
  readonly #damage: KnownDamage
  readonly #options: LevelOptions
  readonly #maxInline: number
  #closed = false
  /** LevelDB has reported damage. */
  #isSuspect = false
  /** Number of open snapshots. No segment is dropped while there are any. */
  #snapshots = 0
  readonly #reads: LevelReads
  readonly daemons = new OneDaemon()
  readonly missingGroups: readonly number[]
  readonly mended: readonly string[]
  #version: bigint
  #groupNumber: number
  #hasWritten = false
  readonly #groups: GroupCommit
  #closing: Promise<void> | undefined
  #committing: Promise<unknown> = Promise.resolve()
  /** If it is not 0, rows are written after their values are on disk. */
  #orderly = 0

  private constructor(opened: Opened, options: LevelOptions) {
    const { db, log, damage, mended, groups } = opened
    this.#db = db
    this.#log = log
    this.#damage = damage
    this.#options = options
    this.#maxInline = options.maxInline ?? defaults.maxInline
    this.#version = versionOf(db.getSync(versionKey) ?? seal(0n, Buffer.alloc(0)))
    this.#groupNumber = groups.last
    this.missingGroups = groups.missing
    this.mended = mended
    this.#reads = new LevelReads(db, () => void this.#suspect())
    this.#groups = new GroupCommit((writes) => (this.#committing = this.#commit(writes)), options)
  }

  /** Opens the folder and creates it if it is missing. Throws `StoreUnavailable` if it is locked, unreadable or damaged. */
  static async open(folder: string, options: LevelOptions = {}): Promise<LevelKv> {
    const { segmentBytes, writeBufferSize, cacheSize } = { ...defaults, ...options }
    const records = join(folder, 'records')
    let db: Engine | undefined
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      loadNativeCode('classic-level', folder)
      // before LevelDB deletes or rewrites damaged files
      const { damage, mended } = options.mustBeWhole ? await checkedFolder(folder) : await mendedFolder(folder, options.quickTableBytes)
      await dropTornGroup(folder)
      const lastInLog = await lastGroupInLog(records) // LevelDB replaces the log as soon as it is constructed
      db = new Level(records, { ...encodings, writeBufferSize, cacheSize })
      await db.open()
      const log = await ValueLog.open(join(folder, 'values'), { segmentBytes })
      return new LevelKv({ db, log, damage, mended, groups: await missingGroups(db, lastInLog) }, options)
    } catch (error) {
      await db?.close()
      // tries again after all tables are checked and repaired
      if (isCorruption(error) && !options.mustBeWhole && options.quickTableBytes !== Infinity)
        return await LevelKv.open(folder, { ...options, quickTableBytes: Infinity })
      throw error instanceof DamagedFolder ? error : unavailable(folder, error)
    }
  }

  async get(key: Bytes): Promise<Entry | undefined> {
    const stored = this.#read(key)
    return stored && kindOf(stored) !== kinds.counter ? this.#entry(key, stored) : undefined
  }

  async getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]> {
    const found: (Entry | undefined)[] = []
    const large: Promise<void>[] = []
    for (const [i, key] of keys.entries()) {
      const stored = this.#read(key)
      const isPointer = stored !== undefined && kindOf(stored) === kinds.pointer
      found.push(stored && !isPointer && kindOf(stored) !== kinds.counter ? entryOf(key, stored) : undefined)
      if (isPointer) large.push(this.#entry(key, stored).then((entry) => void (found[i] = entry)))
    }
    await Promise.all(large)
    return found
  }

  async *range(range: Range): AsyncIterable<Entry> {
    const { start, end, limit, reverse = false, keysOnly = false, whole = false } = range
    let left = limit ?? Infinity
    if (left <= 0) return
    const guard = whole ? this.#damage.guard(range) : undefined
    if (whole === 'shown') this.#damage.requireAllWrites()
    for await (const [key, stored] of this.#reads.walk({ gte: start, lt: end, reverse, rowsWanted: left })) {
      guard?.pass(key)
      const isShown = kindOf(stored) !== kinds.counter
      const entry = isShown ? (keysOnly ? withoutValue(key, stored) : await this.#entry(key, stored)) : undefined
      if (!entry) continue
      yield entry
      if (--left === 0) return
    }
    guard?.end()
  }

  async counter(key: Bytes): Promise<number> {
    return counterOf(this.#reads.look(key))
  }

  async counters(keys: readonly Bytes[]): Promise<number[]> {
    return keys.map((key) => counterOf(this.#reads.look(key)))
  }

  get damage(): readonly Damage[] {
    return this.#damage.all
  }

  async check(rest: Rest): Promise<readonly Damage[]> {
    await this.#damage.check(rest)
    if (this.#damage.hasDamagedLog && !this.#closed) {
      await this.compact()
      await this.#damage.check(rest)
    }
    return this.#damage.ofFiles
  }

  /** Writes the rows in memory into a table, which replaces the log. Merges tables with rows of this range. */
  compact(start: Bytes = behindAll, end: Bytes = behindAll): Promise<void> {
    return this.#inOrder(() => (this.#db as unknown as Compacting).compactRange(start, end))
  }

  /**
   * Runs work that moves rows out of LevelDB's log. Until its end, values are written before rows, because a start finds torn groups only
   * in the log.
   */
  async #inOrder(work: () => Promise<void>): Promise<void> {
    this.#orderly++
    try {
      await this.#committing.catch(() => undefined)
      await work()
    } finally {
      this.#orderly--
    }
  }

  async checkValues(rest: Rest): Promise<readonly Damage[]> {
    await this.#damage.keepValues(await damagedValues(this.#walkFrom, this.#log, (key) => this.#reads.look(key), rest))
    return this.#damage.all
  }

  /** Accepts all losses: forgets damage of files that are no longer in use, and missing groups. */
  async acceptLosses(): Promise<void> {
    const stamps = this.missingGroups.map((number) => groupStamp(number))
    await this.#inOrder(async () => {
      for (let at = 0; at < stamps.length; at += rowsAtOnce) await this.#write([...stamps.slice(at, at + rowsAtOnce), endOfNoGroup])
    })
    await this.#damage.forget()
  }

  /** Number of writes that wait for the next disk sync. If it stays high, the disk is too slow. */
  get waitingWrites(): number {
    return this.#groups.waiting
  }

  write(write: Write): Promise<WriteResult> {
    return this.#groups.write(write)
  }

  /** Frees segments of the value log with few or no live values. Returns the number of dropped segments. */
  collect(): Promise<number> {
    return collectSegments({
      ...{ log: this.#log, kv: this, look: (key) => this.#reads.look(key) },
      rows: () => rowsOf(this.#walkFrom),
      mayDrop: () => this.#snapshots === 0,
    })
  }

  readonly #walkFrom = (gte: Bytes, limit: number): AsyncIterable<[Bytes, Bytes]> =>
    this.#reads.walk({ gte, lt: Buffer.of(0xff), reverse: false, limit })

  /**
   * Returns the whole store at one group commit; writes continue. Rows of versions up to `since` come without their values. Dispose it
   * after use.
   */
  snapshot(since = 0n): StoreSnapshot {
    const state = this.#reads.freeze()
    const { snapshot } = state
    const rows = this.#db.iterator({ snapshot })
    this.#snapshots++
    const version = versionOf(this.#db.getSync(versionKey, { snapshot }) ?? seal(0n, Buffer.alloc(0)))
    return {
      version,
      rows: snapshotRows(rows, this.#log, since),
      [Symbol.asyncDispose]: async () => {
        this.#snapshots--
        await rows.close()
        await state.release()
      },
    }
  }

  /** Completes all accepted writes, then closes the folder. Later writes are refused. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.#groups.close()
    this.#closed = true
    this.#reads.close()
    // a record after the last group distinguishes damage in it from a torn end
    if (this.#hasWritten) await this.#db.del(noNumber, { sync: true }).catch(() => undefined)
    if (!this.#isSuspect) await this.#damage.endCheck()
    await this.#log.close()
    await this.#db.close()
  }

  async #commit(writes: readonly Write[]): Promise<Committed> {
    const plan = planGroup(writes, (key) => this.#reads.look(key), this.#version, this.#maxInline)
    const { results, operations, large } = plan
    const values = large.length > 0 ? await this.#log.place(large) : undefined
    if (values) pointTo(large, values.pointers)
    const size = sizeOf(plan)
    if (operations.length === 0) return { results, size }
    operations.push({ type: 'put', key: versionKey, value: seal(plan.version, Buffer.alloc(0)) }, groupStamp(this.#groupNumber + 1))
    this.#options.beforeBatch?.(operations.length)
    await this.#write(operations, values)
    this.#reads.show(operations)
    this.#version = plan.version
    this.#groupNumber++
    this.#hasWritten = true
    return { results, size }
  }

  /** After a failed write, the disk shows whether the next start could find the group. */
  async #write(operations: readonly Operation[], values?: PlacedValues): Promise<void> {
    try {
      if (values && this.#orderly === 0) await this.#writeAtOnce(operations, values)
      else {
        await values?.write()
        await this.#put(operations)
      }
    } catch (cause) {
      this.#hasWritten = false // nothing may follow a torn group
      const isUndecided = (await mayHoldGroup(this.#db.location, this.#groupNumber + 1)) && !(await this.#isTorn(values?.pointers))
      if (isCorruption(cause)) await this.#suspect()
      const why = isCorruption(cause) ? 'The store is damaged. The next start checks and repairs all files, or reports the next step.' : ''
      throw new StoreFailure(`The store could not write; the process must end. ${why}`.trimEnd(), { cause, isUndecided })
    }
  }

  /** Writes and syncs rows and values at the same time. See `torn-group.ts`. */
  async #writeAtOnce(operations: readonly Operation[], values: PlacedValues): Promise<void> {
    this.#reads.hide()
    const outcomes = await Promise.allSettled([values.write(), this.#put(operations)])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #put(operations: readonly Operation[]): Promise<void> {
    const batch = this.#db.batch()
    for (const { type, key, value } of operations) {
      if (type === 'put') batch.put(key, value)
      else batch.del(key)
    }
    await batch.write({ sync: true })
  }

  /** Returns false if it cannot read the disk. */
  #isTorn(pointers: readonly Pointer[] = []): Promise<boolean> {
    return isAnyTorn(dirname(this.#db.location), pointers).catch(() => false)
  }

  #read(key: Bytes): Bytes | undefined {
    const stored = this.#reads.look(key)
    if (!stored) this.#damage.requireReadable(key)
    return stored
  }

  /** LevelDB has reported damage. Makes the next start check all files, even if this process ends now. */
  async #suspect(): Promise<void> {
    this.#isSuspect = true
    await this.#damage.suspect()
  }

  /** Returns the whole entry; undefined if it was deleted since the look-up. */
  async #entry(key: Bytes, stored: Bytes): Promise<Entry | undefined> {
    if (kindOf(stored) !== kinds.pointer) return entryOf(key, stored)
    try {
      return { key, value: await this.#log.read(pointerOf(stored)), version: versionOf(stored) }
    } catch (error) {
      const again = this.#reads.look(key) // the collector may have moved it since the look-up
      if (again && versionOf(again) === versionOf(stored)) {
        await this.#damage.noteValue(valueDamage(stored))
        throw new StoreDamaged((error as Error).message, { cause: error, key })
      }
      return again && this.#entry(key, again)
    }
  }
}

const entryOf = (key: Bytes, stored: Bytes): Entry => ({ key, value: payloadOf(stored), version: versionOf(stored) })
const withoutValue = (key: Bytes, stored: Bytes): Entry => ({ key, value: noValue, version: versionOf(stored) })
const noValue = Buffer.alloc(0)

interface Opened extends CheckedFolder {
  readonly db: Engine
  readonly log: ValueLog
  readonly groups: { readonly last: number; readonly missing: readonly number[] }
}

function unavailable(folder: string, error: unknown): StoreUnavailable {
  const cause = (error as { cause?: { code?: string } }).cause
  if (cause?.code === 'LEVEL_LOCKED') {
    return new StoreInUse(folder, join(folder, 'records', 'LOCK'), undefined, { cause: error })
  }
  const reason = (cause as Error | undefined)?.message ?? (error instanceof Error ? error.message : String(error))
  if (isCorruption(error)) return new DamagedFolder(folder, [`LevelDB cannot open it: ${reason}.`], { cause: error })
  return new StoreUnavailable(`The data folder ${folder} cannot be opened: ${reason}`, { cause: error })
}
