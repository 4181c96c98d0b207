/** Writes the rows of a snapshot into a database, in place of what it holds: all of them, or none. */
import type { Client } from 'pg'
import { seal, versionOf } from '../engine/codec.ts'
import type { SnapshotRow } from '../engine/snapshot.ts'
import { StoreUnavailable } from '../kv.ts'
import { parseStoreAddress } from './address.ts'
import { LargeValues, refuseWithObjects, type ObjectOptions } from './objects/large-values.ts'
import { keepObjects } from './objects/object-sweep.ts'
import { takeOver } from './ownership.ts'
import { packRows, type PackedRow } from './packed-rows.ts'
import { prepareSchema } from './schema.ts'
import { Servers } from './servers.ts'
import { randomUUID } from 'node:crypto'

/** Of one statement. */
const [maxRows, maxBytes] = [2000, 4 * 1024 * 1024]
/** Our own keys lie behind all others; the embedded store's are of no use here. */
const ownPrefix = 0xff

const insert = {
  name: 'postern restore',
  text: `INSERT INTO postern_rows_restored (key, stored)
    SELECT substring($1::bytea FROM ka FOR kn), substring($2::bytea FROM va FOR vn)
    FROM unnest($3::int[], $4::int[], $5::int[], $6::int[]) AS places(ka, kn, va, vn)`,
}

/**
 * Rows come into a table beside the one in use, which they replace at the end, so that one that broke off is begun again. Throws
 * `StoreUnavailable` when a daemon uses the database, or it holds rows and `mayReplace` is not set.
 */
export async function writeRestoredDatabase(
  address: string,
  rows: AsyncIterable<SnapshotRow>,
  mayReplace: boolean,
  large: ObjectOptions | undefined,
): Promise<void> {
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
    await client.query('DROP TABLE IF EXISTS postern_rows_restored')
    await client.query('CREATE TABLE postern_rows_restored (LIKE postern_rows INCLUDING ALL)')
    const version = await copyRows(client, rows, values)
    await client.query(`BEGIN; DELETE FROM postern_parts; DROP TABLE postern_rows; ALTER TABLE postern_rows_restored RENAME TO postern_rows;
      ALTER INDEX postern_rows_restored_pkey RENAME TO postern_rows_pkey;
      SELECT setval('postern_version', GREATEST(last_value, ${version})) FROM postern_version; COMMIT`)
  } finally {
    await client.end()
  }
}

/** Returns the highest version among them. */
async function copyRows(client: Client, rows: AsyncIterable<SnapshotRow>, values: LargeValues | undefined): Promise<bigint> {
  let [waiting, bytes, highest]: [SnapshotRow[], number, bigint] = [[], 0, 0n]
  for await (const row of rows) {
    const { key, version, body } = row
    if (version > highest && key[0] !== ownPrefix) highest = version
    if (key[0] === ownPrefix) {
      highest = versionOfOwn(key, body, highest)
      continue
    }
    waiting.push(row)
    bytes += key.length + body.length
    if (waiting.length < maxRows && bytes < maxBytes) continue
    await insertRows(client, waiting, values)
    waiting = []
    bytes = 0
  }
  if (waiting.length > 0) await insertRows(client, waiting, values)
  return highest
}

async function insertRows(client: Client, rows: readonly SnapshotRow[], values: LargeValues | undefined): Promise<void> {
  const packed = await Promise.all(
    rows.map(async ({ kind, key, version, body }): Promise<PackedRow> => {
      if (kind !== 'large') return { key, stored: body }
      const setting = { key, value: body }
      if (!values?.isLarge(setting)) return { key, stored: seal(version, body) }
      await values.keep(setting)
      return { key, stored: values.sealed({ setting, pieces: [body], version }) }
    }),
  )
  await client.query({ ...insert, values: [...packRows(packed)] })
}

/** The version that the embedded store wrote last may be that of a row that is gone. */
function versionOfOwn(key: SnapshotRow['key'], body: SnapshotRow['body'], highest: bigint): bigint {
  if (key[1] !== 0x01 || key.length !== 2) return highest
  const version = versionOf(body)
  return version > highest ? version : highest
}
