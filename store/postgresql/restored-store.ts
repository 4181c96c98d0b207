/** Writes the rows of a snapshot into a database, in place of what it holds: all of them, or none. */
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { EarlierBackup } from '../backup/past-backups.ts'
import { versionOf } from '../engine/codec.ts'
import { digestRows, RowSum, type RowDigest } from '../engine/row-digest.ts'
import type { SnapshotRow, StoreSnapshot } from '../engine/snapshot.ts'
import { StoreUnavailable } from '../kv.ts'
import { parseStoreAddress } from './address.ts'
import { LargeValues, refuseWithObjects, type ObjectOptions } from './objects/large-values.ts'
import { keepObjects } from './objects/object-sweep.ts'
import { takeOver } from './ownership.ts'
import { prepareSchema } from './schema.ts'
import { Servers } from './servers.ts'
import { tableRows } from './snapshot.ts'
import { putInUse, stagedKeys, stagedTable, StagedWrites, stageNone } from './staged-rows.ts'

/** Our own keys lie behind all others; the embedded store's are of no use here. */
const ownPrefix = 0xff

export interface CopyTarget {
  readonly address: string
  /** Rows that the database holds are deleted. */
  readonly mayReplace: boolean
  readonly large: ObjectOptions | undefined
}

/**
 * Rows come into a table beside the one in use, which they replace at the end, so that one that broke off is begun again. Throws
 * `StoreUnavailable` when a daemon uses the database, or it holds rows and `mayReplace` is not set.
 */
export const writeRestoredDatabase = (target: CopyTarget, rows: AsyncIterable<SnapshotRow>): Promise<void> =>
  using(target, async (client, values) => {
    await stageNone(client)
    const version = await stageAll(client, rows, values)
    await inTransaction(client, () => putInUse(client, version))
  })

/**
 * The first half of a copy, while the other store is in use: all rows of a backup of it, beside those in use here, and compared. Throws as
 * `writeRestoredDatabase`, and when the copy differs.
 */
export const copyAhead = (target: CopyTarget, rows: AsyncIterable<SnapshotRow>, { id, until }: EarlierBackup): Promise<RowDigest> =>
  using(target, async (client, values) => {
    await stageNone(client)
    const sum = new RowSum()
    await stageAll(client, sum.passing(rows), values)
    const found = await digestRows(tableRows(client, stagedTable, values))
    if (found.digest !== sum.digest().digest) throw new StoreUnavailable('The copy differs from what it was made of; begin it again.')
    await client.query(`COMMENT ON TABLE ${stagedTable} IS '${JSON.stringify({ id, until: String(until) })}'`)
    return found
  })

/** What a first half that is there goes on from. */
export const copiedAhead = (target: CopyTarget): Promise<EarlierBackup | undefined> =>
  using(target, async (client) => {
    const { rows } = await client.query<{ said: string | null }>("SELECT obj_description(to_regclass($1), 'pg_class') AS said", [
      stagedTable,
    ])
    const said = rows[0]?.said
    if (said === null || said === undefined) return undefined
    const { id, until } = JSON.parse(said) as { readonly id: string; readonly until: string }
    return { id, until: BigInt(until) }
  })

export interface Finished {
  readonly rows: number
  readonly changed: number
}

/**
 * The second half, from a snapshot since the first one: what changed is written, what is gone is deleted, and every other row is there in
 * its version, or nothing is done at all.
 */
export const finishCopy = (target: CopyTarget, { rows, version }: Pick<StoreSnapshot, 'rows' | 'version'>): Promise<Finished> =>
  using(target, (client, values) =>
    inTransaction(client, async () => {
      const finished = await stageChanges(client, rows, values)
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
      throw new StoreUnavailable(`The database at ${servers.shown} holds data already; --replace deletes them.`)
    const values = large && (await LargeValues.open(client, large))
    if (values) await keepObjects(client)
    else await refuseWithObjects(client)
    return await use(client, values)
  } finally {
    await client.end()
  }
}

async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Returns the highest version among them. */
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

/** Both in the order of their keys. */
async function stageChanges(client: Client, rows: AsyncIterable<SnapshotRow>, values: LargeValues | undefined): Promise<Finished> {
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
    } else if (there?.version !== row.version)
      throw new StoreUnavailable('The copy made ahead is not what it was made of; begin with --ahead again.')
  }
  for (; next.done !== true; next = await staged.next()) await writes.delete(next.value.key)
  await writes.end()
  return { rows: all, changed }
}

/** The version that the embedded store wrote last may be that of a row that is gone. */
function versionOfOwn(key: SnapshotRow['key'], body: SnapshotRow['body'], highest: bigint): bigint {
  if (key[1] !== 0x01 || key.length !== 2) return highest
  const version = versionOf(body)
  return version > highest ? version : highest
}
