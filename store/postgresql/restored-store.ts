/** Writes the rows of a snapshot into a database in place of its content: all of them or none. */
import { randomUUID } from 'node:crypto'
import { DatabaseError, type Client } from 'pg'
import type { EarlierBackup } from '../backup/past-backups.ts'
import { versionOf } from '../engine/codec.ts'
import { digestRows, RowSum, type RowDigest } from '../engine/row-digest.ts'
import type { SnapshotRow, StoreSnapshot } from '../engine/snapshot.ts'
import { StoreAway, StoreUnavailable } from '../kv.ts'
import { parseStoreAddress } from './address.ts'
import { codeOf, isAway } from './failures.ts'
import { LargeValues, refuseWithObjects, type ObjectOptions } from './objects/large-values.ts'
import { keepObjects } from './objects/object-sweep.ts'
import { takeOver } from './ownership.ts'
import { prepareSchema } from './schema.ts'
import { Servers } from './servers.ts'
import { tableRows } from './snapshot.ts'
import { isWrittenBefore, numberOfNow, putInUse, stagedCount, stagedKeys, stagedTable, StagedWrites, stageNone } from './staged-rows.ts'

/** First octet of internal keys of an engine, which sort last. Rows of the embedded store with it are not copied. */
const ownPrefix = 0xff
/** Waits at most this time for other sessions that read the rows, such as a dump. */
const lockMs = 30_000
/** SQLSTATE of a lock timeout. */
const lockNotAvailable = '55P03'

export interface CopyTarget {
  readonly address: string
  /** Permits deleting the rows in the database. */
  readonly mayReplace: boolean
  readonly large: ObjectOptions | undefined
}

/** Makes everything durable that a copy in use requires. */
type BeforeUse = () => Promise<void>

/**
 * Copies rows into a second table, compares them, and replaces the rows in use in one step. An interrupted copy can start again. Throws
 * `StoreUnavailable` if a daemon uses the database, if rows exist and `mayReplace` is not set, or if the copy differs.
 */
export const writeRestoredDatabase = (target: CopyTarget, rows: AsyncIterable<SnapshotRow>, beforeUse: BeforeUse): Promise<RowDigest> =>
  using(target, async (client, values) => {
    const { version, found } = await stageCompared(client, rows, values)
    await inTransaction(client, beforeUse, () => putInUse(client, version))
    return found
  })

/**
 * First half of a copy, while the source store is in use: copies all rows of a backup into a second table and compares them. Throws the
 * errors of `writeRestoredDatabase`.
 */
export const copyAhead = (target: CopyTarget, rows: AsyncIterable<SnapshotRow>, { id, until }: EarlierBackup): Promise<RowDigest> =>
  using(target, async (client, values) => {
    const { found, compared } = await stageCompared(client, rows, values)
    const said = JSON.stringify({ id, until: String(until), compared })
    await client.query(`COMMENT ON TABLE ${stagedTable} IS ${client.escapeLiteral(said)}`)
    return found
  })

/** Returns the finished first half of a copy, if there is one. */
export const copiedAhead = (target: CopyTarget): Promise<FirstHalf | undefined> => using(target, firstHalf)

/** The copied backup, and a transaction number. No row of the copy was written in or after that transaction. */
export interface FirstHalf extends EarlierBackup {
  readonly compared: number
}

async function firstHalf(client: Client): Promise<FirstHalf | undefined> {
  const { rows } = await client.query<{ said: string | null }>("SELECT obj_description(to_regclass($1), 'pg_class') AS said", [stagedTable])
  const said = rows[0]?.said
  if (said === null || said === undefined) return undefined
  const { id, until, compared } = JSON.parse(said) as { readonly id: string; readonly until: string; readonly compared: number }
  return { id, until: BigInt(until), compared }
}

export interface Finished {
  readonly rows: number
  readonly changed: number
}

/**
 * Second half, from a snapshot later than the first half: writes changed rows and deletes rows that no longer exist. All other rows must
 * have the version and the state of the comparison; otherwise nothing changes.
 */
export const finishCopy = (
  target: CopyTarget,
  { rows, version }: Pick<StoreSnapshot, 'rows' | 'version'>,
  { id, compared }: FirstHalf,
  beforeUse: BeforeUse,
): Promise<Finished> =>
  using(target, (client, values) =>
    inTransaction(client, beforeUse, async () => {
      if ((await firstHalf(client))?.id !== id) throw otherCopy()
      const finished = await stageChanges(client, rows, values, compared)
      if ((await stagedCount(client)) !== finished.rows) throw otherCopy()
      await putInUse(client, version)
      return finished
    }),
  )

async function using<T>(target: CopyTarget, use: (client: Client, values: LargeValues | undefined) => Promise<T>): Promise<T> {
  const { address, mayReplace, large } = target
  const servers = new Servers(parseStoreAddress(address), 0)
  const client = await servers.connect('postern restore')
  try {
    await prepareSchema(client, servers.shown)
    await takeOver(client, 'alone', randomUUID(), servers.shown)
    const { rows: held } = await client.query('SELECT FROM postern_rows LIMIT 1')
    if (held.length > 0 && !mayReplace)
      throw new StoreUnavailable(
        `The database at ${servers.shown} already contains data. If it is the copy of this store, set POSTERN_STORE and start the daemon. Otherwise, --replace deletes it.`,
      )
    const values = large && (await LargeValues.open(client, large))
    if (values) await keepObjects(client)
    else await refuseWithObjects(client)
    return await use(client, values)
  } catch (error) {
    throw readable(error, servers.shown)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Turns failures of the database or of its object storage into sentences with the next step. */
function readable(error: unknown, shown: string): unknown {
  if (error instanceof CommitLost) {
    return new StoreUnavailable(
      `The database at ${shown} did not respond to the last step (${error.message}), so the copy may be in use. Run the command again: ` +
        'it finishes the copy, or reports that the database already contains data.',
      { cause: error },
    )
  }
  const isOfDatabase = error instanceof DatabaseError || (error instanceof Error && error.name === 'Error' && isAway(error))
  if (!isOfDatabase && !(error instanceof StoreAway)) return error
  const { message } = error as Error
  const why = codeOf(error) === lockNotAvailable ? 'another session has its table open, such as a dump' : message.replace(/\.$/, '')
  return new StoreUnavailable(
    `The copy into the database at ${shown} failed: ${why}. The data in use there is unchanged. Fix the cause and run the command again.`,
    { cause: error },
  )
}

class CommitLost extends Error {}

async function inTransaction<T>(client: Client, beforeUse: BeforeUse, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = '${lockMs}ms'`)
  try {
    const result = await work()
    await beforeUse()
    await client.query('COMMIT').catch((error: unknown) => {
      throw new CommitLost((error as Error).message, { cause: error })
    })
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const otherCopy = (): StoreUnavailable => new StoreUnavailable('The copy made ahead differs from its source; start again with --ahead.')

async function stageCompared(
  client: Client,
  rows: AsyncIterable<SnapshotRow>,
  values: LargeValues | undefined,
): Promise<{ readonly version: bigint; readonly found: RowDigest; readonly compared: number }> {
  await stageNone(client)
  const sum = new RowSum()
  const version = await stageAll(client, sum.passing(rows), values)
  const compared = await numberOfNow(client)
  const found = await digestRows(tableRows(client, stagedTable, values))
  const made = sum.digest()
  if (found.digest === made.digest) return { version, found, compared }
  throw new StoreUnavailable(
    `The copy differs from its source (${found.rows} rows instead of ${made.rows}) and is not in use. Run the command again.`,
  )
}

/** Returns the highest version of the rows. */
async function stageAll(client: Client, rows: AsyncIterable<SnapshotRow>, values: LargeValues | undefined): Promise<bigint> {
  const writes = new StagedWrites(client, values)
  let highest = 0n
  for await (const row of rows) {
    const { key, version, body } = row
    if (key[0] === ownPrefix) {
      highest = versionOfOwn(key, body, highest)
      continue
    }
    if (version > highest) highest = version
    await writes.set(row)
  }
  await writes.end()
  return highest
}

/** Merges two sequences in key order: the snapshot and the staged keys. */
async function stageChanges(
  client: Client,
  rows: AsyncIterable<SnapshotRow>,
  values: LargeValues | undefined,
  compared: number,
): Promise<Finished> {
  const writes = new StagedWrites(client, values)
  const staged = stagedKeys(client)
  let [all, changed] = [0, 0]
  let next = await staged.next()
  for await (const row of rows) {
    if (row.key[0] === ownPrefix) continue
    all++
    for (; next.done !== true && Buffer.compare(next.value.key, row.key) < 0; next = await staged.next())
      await writes.delete(next.value.key)
    const there = next.done !== true && Buffer.compare(next.value.key, row.key) === 0 ? next.value : undefined
    if (there) next = await staged.next()
    if (row.kind !== 'same') {
      changed++
      await writes.set(row)
    } else if (there?.version !== row.version || !isWrittenBefore(there, compared)) throw otherCopy()
  }
  for (; next.done !== true; next = await staged.next()) await writes.delete(next.value.key)
  await writes.end()
  return { rows: all, changed }
}

/** The last version of the embedded store may belong to a deleted row. */
function versionOfOwn(key: SnapshotRow['key'], body: SnapshotRow['body'], highest: bigint): bigint {
  if (key[1] !== 0x01 || key.length !== 2) return highest
  const version = versionOf(body)
  return version > highest ? version : highest
}
