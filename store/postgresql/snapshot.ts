/** Snapshots of the whole store for backups and moves: one transaction that does not see later changes. */
import type { Client } from 'pg'
import { kindOf, kinds, payloadOf, seal, versionOf } from '../engine/codec.ts'
import type { SnapshotRow, StoreSnapshot } from '../engine/snapshot.ts'
import type { Bytes } from '../kv.ts'
import { inOrder } from './objects/in-order.ts'
import type { LargeValues } from './objects/large-values.ts'
import { keepObjects } from './objects/object-sweep.ts'
import { withSums } from './parts/part-rows.ts'
import { versionsAtOnce } from './schema.ts'
import type { Servers } from './servers.ts'

const [rowsAtOnce, maxBytesAtOnce] = [512, 4 * 1024 * 1024]
/** The embedded store keeps larger values in its value log; see `level/level-kv.ts`. */
const maxInline = 2 * 1024
/** Key of the last version in the embedded store. Its internal keys sort after all other keys. */
const versionKey = Buffer.of(0xff, 0x01)

/** Number of large values to read in advance. */
const readAhead = 8

const pageOf = (table: string) => ({
  name: `postern snapshot ${table}`,
  text: `SELECT key, stored FROM ${table} WHERE key > $1 ORDER BY key LIMIT $2`,
})

export async function openSnapshot(servers: Servers, values: LargeValues | undefined): Promise<StoreSnapshot> {
  const client = await servers.connect('postern snapshot')
  try {
    // a slow reader of a backup may keep the transaction open for a long time
    await client.query('SET idle_in_transaction_session_timeout = 0')
    if (values) await keepObjects(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query('SELECT FROM postern_rows LIMIT 1') // the first query determines the state that the transaction sees
    const { rows } = await client.query<{ version: string }>('SELECT last_value AS version FROM postern_version')
    const version = BigInt(rows[0]?.version ?? 0) + BigInt(versionsAtOnce)
    return { version, rows: snapshotRows(client, version, values), [Symbol.asyncDispose]: () => client.end() }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Returns rows as the embedded store has them, with the row of the version at the end. */
async function* snapshotRows(client: Client, version: bigint, values: LargeValues | undefined): AsyncGenerator<SnapshotRow> {
  yield* tableRows(client, 'postern_rows', values)
  yield { kind: 'inline', key: versionKey, version, body: seal(version, Buffer.alloc(0)) }
}

/** Returns rows with their values in key order. */
export async function* tableRows(client: Client, table: string, values: LargeValues | undefined): AsyncGenerator<SnapshotRow> {
  const page = pageOf(table)
  let [after, limit]: [Bytes, number] = [Buffer.alloc(0), rowsAtOnce]
  for (;;) {
    const { rows } = await client.query<{ key: Buffer; stored: Buffer }>({ ...page, values: [after, limit] })
    let bytes = 1
    for (const { stored } of rows) bytes += stored.length
    const whole = await withSums(rows, async (statement, values) => (await client.query({ ...statement, values })).rows)
    yield* inOrder(whole, ({ key, stored }) => snapshotRow(key, stored, values), readAhead)
    const last = rows.at(-1)
    if (!last || rows.length < limit) return
    after = last.key
    limit = Math.max(1, Math.min(rowsAtOnce, Math.floor((rows.length * maxBytesAtOnce) / bytes)))
  }
}

async function snapshotRow(key: Bytes, stored: Bytes, values: LargeValues | undefined): Promise<SnapshotRow> {
  const version = versionOf(stored)
  if (kindOf(stored) === kinds.object && values) {
    const body = await values.load(key, stored)
    if (!body) throw await values.missing(key, stored)
    return { kind: 'large', key, version, body }
  }
  const payload = payloadOf(stored)
  const isLarge = kindOf(stored) === kinds.inline && payload.length > maxInline
  return isLarge ? { kind: 'large', key, version, body: payload } : { kind: 'inline', key, version, body: stored }
}
