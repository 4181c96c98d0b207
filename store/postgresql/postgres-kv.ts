/**
 * The store in a database that speaks PostgreSQL's protocol. Any number of processes may share it. Rows are locked in key order, and a new
 * row requires that the key is still absent. Writes that wait at the same time share a transaction.
 */
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { counterOf, kindOf, kinds, payloadOf, versionOf } from '../engine/codec.ts'
import { GroupCommit, type Committed, type GroupOptions } from '../engine/group-commit.ts'
import type { StoreSnapshot } from '../engine/snapshot.ts'
import type { Damage, StoreKv } from '../engine/store-kv.ts'
import { StoreFailure, type Bytes, type Entry, type Range, type Write, type WriteResult } from '../kv.ts'
import { keyName } from '../tuple.ts'
import { OneDaemon } from '../daemons/one-daemon.ts'
import type { Daemons } from '../daemons/daemons.ts'
import { parseStoreAddress } from './address.ts'
import { PostgresDaemons } from './daemons/postgres-daemons.ts'
import { PostgresTries } from './daemons/tries.ts'
import { isCollision } from './failures.ts'
import { commitGroup, CommitUnknown, Overtaken, type CommittedRows } from './group-transaction.ts'
import { inOrder } from './objects/in-order.ts'
import { LargeValues, refuseWithObjects, type ObjectOptions } from './objects/large-values.ts'
import { LargeWrites } from './objects/large-writes.ts'
import { ObjectSweep } from './objects/object-sweep.ts'
import { requireInUse } from './moved.ts'
import { keepOwning, takeOver, type StoreUse } from './ownership.ts'
import { Readers } from './readers.ts'
import { prepareSchema, versionsAtOnce } from './schema.ts'
import { Servers } from './servers.ts'
import { NeedsWhole } from './parts/group-parts.ts'
import { isInParts, withSums } from './parts/part-rows.ts'
import { PartedKeys } from './parts/parted-keys.ts'
import { openSnapshot } from './snapshot.ts'

export interface PostgresOptions extends GroupOptions {
  /** Number of connections for reads; writes use one more. 4 by default. */
  readonly readers?: number
  /**
   * `alone`: excludes all other owners until this process closes the store or ends. `together`: for daemons, which exclude only sole
   * owners. Without a value, the process reads and writes without ownership.
   */
  readonly use?: StoreUse
  /** The process ends after the database was unreachable for this time, in milliseconds; 30,000 by default. */
  readonly maxOutageMs?: number
  /** Which counters and tallies have a part for each process: counters that several processes write at the same time, or all. */
  readonly parts?: 'contended' | 'always'
  /** Storage of large values; by default, the database itself. */
  readonly large?: ObjectOptions | undefined
}

const defaults = { readers: 4, maxOutageMs: 30_000 }
/** A transaction that is idle for this time blocks other processes, so the server ends its session. */
const writerIdleMs = 3000
/** Largest number of repetitions of a group that collides with other processes. */
const maxCollisions = 100
/** Rows of the first query of a range, and of the last ones. Large rows reduce the number. */
const [firstPage, maxPage, maxPageBytes] = [32, 512, 2 * 1024 * 1024]
const [ascending, descending] = ['ASC', 'DESC'].map((order) => ({
  name: `postern range ${order}`,
  text: `SELECT key, stored FROM postern_rows WHERE key >= $1 AND key < $2 AND get_byte(stored, 0) NOT IN (${kinds.counter}, ${kinds.counterInParts})
    ORDER BY key ${order} LIMIT $3`,
})) as [Statement, Statement]
/** Number of large values that a range reads in advance. */
const readAhead = 4
const many = { name: 'postern many', text: 'SELECT key, stored FROM postern_rows WHERE key = ANY($1::bytea[])' }
const one = { name: 'postern one', text: 'SELECT key, stored FROM postern_rows WHERE key = $1' }

interface Statement {
  readonly name: string
  readonly text: string
}

interface Row {
  readonly key: Buffer
  readonly stored: Buffer
}

/** Parts of a store with objects. */
interface Large {
  readonly values: LargeValues
  readonly writes: LargeWrites
  readonly sweep: ObjectSweep
}

export class PostgresKv implements StoreKv {
  readonly missingGroups: readonly number[] = []
  /** Always empty: the database has its own checksums. */
  readonly damage: readonly Damage[] = []
  readonly mended: readonly string[] = []
  readonly #servers: Servers
  readonly #readers: Readers
  readonly #groups: GroupCommit
  readonly #writer = randomUUID()
  readonly #use: StoreUse | undefined
  readonly #parts: PartedKeys
  #daemons: PostgresDaemons | undefined
  #alone: OneDaemon | undefined
  #large: Large | undefined
  /** Number of the last group that is certainly durable. */
  #token = 0
  #client: Client | undefined
  #closing: Promise<void> | undefined

  private constructor(servers: Servers, options: PostgresOptions) {
    this.#servers = servers
    this.#use = options.use
    this.#parts = new PartedKeys(this.#writer, options.parts === 'always')
    this.#readers = new Readers(servers, options.readers ?? defaults.readers)
    this.#groups = new GroupCommit((writes) => this.#commit(writes), options, versionsAtOnce)
  }

  /** Creates missing tables. Throws `StoreUnavailable` with a sentence for people. */
  static async open(address: string, options: PostgresOptions = {}): Promise<PostgresKv> {
    const servers = new Servers(parseStoreAddress(address), options.maxOutageMs ?? defaults.maxOutageMs)
    const kv = new PostgresKv(servers, options)
    const client = await servers.connect('postern writes', writerIdleMs)
    try {
      await prepareSchema(client, servers.shown)
      if (options.use) await takeOver(client, options.use, kv.#writer, servers.shown)
      if (options.use === 'together') await requireInUse(client, servers.shown)
      if (options.large) kv.#useObjects(await LargeValues.open(client, options.large))
      else await refuseWithObjects(client)
      await client.query('INSERT INTO postern_writers (id, token) VALUES ($1, 0)', [kv.#writer])
      if (options.use === 'together') {
        const tries = new PostgresTries(kv.#readers)
        kv.#daemons = await PostgresDaemons.join(servers, kv.#writer, tries, (error) => options.onFailure?.(error))
      }
    } catch (error) {
      await client.end()
      throw error
    }
    kv.#client = client
    return kv
  }

  get daemons(): Daemons {
    return this.#daemons ?? (this.#alone ??= new OneDaemon())
  }

  get waitingWrites(): number {
    return this.#groups.waiting + (this.#large?.writes.waiting ?? 0)
  }

  async get(key: Bytes): Promise<Entry | undefined> {
    const [row] = await this.#read(one, [key])
    return row && this.#entry(key, row.stored)
  }

  async getMany(keys: readonly Bytes[]): Promise<(Entry | undefined)[]> {
    const found = await this.#many(keys)
    return Promise.all(
      keys.map(async (key) => {
        const stored = found.get(keyName(key))
        return stored && this.#entry(key, stored)
      }),
    )
  }

  async *range({ start, end, limit = Infinity, reverse = false, keysOnly = false }: Range): AsyncIterable<Entry> {
    let [from, to, left, page] = [start, end, limit, firstPage]
    while (left > 0) {
      const asked = Math.min(left, page)
      const rows = await this.#readers.query<Row>(reverse ? descending : ascending, [from, to, asked])
      let bytes = 0
      for (const { stored } of rows) bytes += stored.length
      yield* this.#entries(await this.#summed(rows), keysOnly)
      const last = rows.at(-1)?.key
      if (rows.length < asked || !last) return
      left -= rows.length
      page = Math.max(1, Math.min(maxPage, 2 * page, Math.floor((rows.length * maxPageBytes) / bytes)))
      if (reverse) to = last
      else from = Buffer.concat([last, Buffer.of(0)])
    }
  }

  async counter(key: Bytes): Promise<number> {
    const [row] = await this.#read(one, [key])
    return counterOf(row?.stored)
  }

  async counters(keys: readonly Bytes[]): Promise<number[]> {
    const found = await this.#many(keys)
    return keys.map((key) => counterOf(found.get(keyName(key))))
  }

  write(write: Write): Promise<WriteResult> {
    return this.#large ? this.#large.writes.write(write) : this.#groups.write(write)
  }

  async check(): Promise<readonly Damage[]> {
    return this.damage
  }

  async checkValues(): Promise<readonly Damage[]> {
    return this.damage
  }

  /** Removes objects that a crash left. The database frees its space without help. */
  async collect(): Promise<number> {
    return (await this.#large?.sweep.sweep()) ?? 0
  }

  /** Returns all rows with their values, including rows that are unchanged since an earlier snapshot. */
  snapshot(): Promise<StoreSnapshot> {
    return openSnapshot(this.#servers, this.#large?.values)
  }

  /** Completes all accepted writes, then disconnects. Later writes are refused. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.#large?.writes.close()
    await this.#groups.close()
    await this.#large?.sweep.close()
    await this.#daemons?.close()
    await this.#readers.close()
    await this.#client?.query('DELETE FROM postern_writers WHERE id = $1', [this.#writer]).catch(() => undefined)
    await this.#client?.end().catch(() => undefined)
  }

  /** Throws if the database refuses, or is unreachable for too long. The storage has failed then. */
  async #commit(writes: readonly Write[]): Promise<Committed> {
    const token = this.#token + 1
    let lost: CommittedRows | undefined
    const attempt = async (): Promise<Committed> => {
      try {
        const client = await this.#connection()
        const known = lost && (await this.#tokenIn(client)) === token ? lost : undefined
        lost = undefined
        const committed = known ?? (await this.#committed(client, writes, token))
        if (committed.size.rows > 0) this.#token = token // a group of refused writes leaves no mark
        this.#large?.sweep.forget(committed.unnamed)
        return committed
      } catch (error) {
        if (error instanceof CommitUnknown) lost = error.committed
        this.#hangUp()
        throw error
      }
    }
    try {
      return await this.#servers.patiently(attempt, () => false)
    } catch (cause) {
      if (lost === undefined) throw cause
      throw new StoreFailure((cause as Error).message, { cause, isUndecided: true })
    }
  }

  /** Repeats a group that collides with other processes. */
  async #committed(client: Client, writes: readonly Write[], token: number): Promise<CommittedRows> {
    for (let collisions = 0; ; collisions++) {
      try {
        return await commitGroup(client, writes, { writer: this.#writer, token }, this.#large?.values, this.#parts)
      } catch (error) {
        if (error instanceof NeedsWhole) {
          await client.query('ROLLBACK')
          continue
        }
        if (!(error instanceof Overtaken || isCollision(error)) || collisions > maxCollisions) throw error
        await client.query('ROLLBACK')
        if (this.#daemons && (await this.#tokenIn(client)) === undefined) throw takenOut()
      }
    }
  }

  #useObjects(values: LargeValues): void {
    const sweep = new ObjectSweep(this.#servers, values)
    const writes = new LargeWrites(
      values,
      (write) => this.#groups.write(write),
      (names) => sweep.forget(names),
    )
    this.#large = { values, writes, sweep }
  }

  async #many(keys: readonly Bytes[]): Promise<ReadonlyMap<string, Buffer>> {
    const rows = keys.length === 0 ? [] : await this.#read(many, [keys.map((key) => Buffer.from(key))])
    return new Map(rows.map(({ key, stored }) => [keyName(key), stored]))
  }

  async #read(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#summed(await this.#readers.query<Row>(statement, values))
  }

  #summed(rows: readonly Row[]): readonly Row[] | Promise<readonly Row[]> {
    return rows.some(({ stored }) => isInParts(stored)) ? withSums(rows, (statement, keys) => this.#readers.query(statement, keys)) : rows
  }

  async *#entries(rows: readonly Row[], keysOnly: boolean): AsyncIterable<Entry> {
    if (keysOnly || !rows.some(({ stored }) => kindOf(stored) === kinds.object)) {
      for (const { key, stored } of rows) if (kindOf(stored) !== kinds.counter) yield entryOf(key, stored)
      return
    }
    for await (const entry of inOrder(rows, ({ key, stored }) => this.#entry(key, stored), readAhead)) if (entry) yield entry
  }

  /** Returns the whole entry; undefined for a counter, and for an entry that was deleted after the look-up. */
  async #entry(key: Bytes, stored: Bytes): Promise<Entry | undefined> {
    if (kindOf(stored) === kinds.counter) return undefined
    if (kindOf(stored) !== kinds.object) return entryOf(key, stored)
    if (!this.#large)
      throw new StoreFailure('The value is an object. Set POSTERN_STORE_OBJECTS to the same value as on the other daemons.', { key })
    const { values } = this.#large
    const value = await values.load(key, stored)
    if (value) return { key, value, version: versionOf(stored) }
    const [again] = await this.#read(one, [key])
    if (again && versionOf(again.stored) === versionOf(stored)) throw await values.missing(key, stored)
    return again && this.#entry(key, again.stored)
  }

  #hangUp(): void {
    const client = this.#client
    this.#client = undefined
    void client?.end().catch(() => undefined)
  }

  /** Returns the connection for writes. Replaces a lost connection after a check that all acknowledged writes exist on the server. */
  async #connection(): Promise<Client> {
    if (this.#client) return this.#client
    const client = await this.#servers.connect('postern writes', writerIdleMs)
    try {
      if (this.#use) await keepOwning(client, this.#use, this.#writer, this.#servers.shown)
      const token = await this.#tokenIn(client)
      if (token === undefined && this.#daemons) throw takenOut()
      if (token !== undefined && token >= this.#token) return (this.#client = client)
    } catch (error) {
      await client.end()
      throw error
    }
    await client.end()
    throw new StoreFailure(
      `The database at ${this.#servers.shown} has lost acknowledged writes. A promoted standby may not have received them.`,
    )
  }

  /** Returns the number of the last committed group. Waits for a group in commit, because its transaction locks the row. */
  async #tokenIn(client: Client): Promise<number | undefined> {
    const { rows } = await client.query<{ token: string }>('SELECT token FROM postern_writers WHERE id = $1 FOR UPDATE', [this.#writer])
    return rows[0] && Number(rows[0].token)
  }
}

const takenOut = (): StoreFailure =>
  new StoreFailure('Other daemons removed this daemon because it did not respond for seconds. Start it again.')

const entryOf = (key: Bytes, stored: Bytes): Entry => ({ key, value: payloadOf(stored), version: versionOf(stored) })
