/** A second table of rows, which replaces the rows in use in one step. */
import type { Client } from 'pg'
import { seal } from '../engine/codec.ts'
import type { SnapshotRow } from '../engine/snapshot.ts'
import type { Bytes } from '../kv.ts'
import type { LargeValues } from './objects/large-values.ts'
import { packRows, type PackedRow } from './packed-rows.ts'

export const stagedTable = 'postern_rows_restored'
/** Limits of one statement. */
const [maxRows, maxBytes] = [2000, 4 * 1024 * 1024]

const insert = {
  name: 'postern restore',
  text: `INSERT INTO ${stagedTable} (key, stored)
    SELECT substring($1::bytea FROM ka FOR kn), substring($2::bytea FROM va FOR vn)
    FROM unnest($3::int[], $4::int[], $5::int[], $6::int[]) AS places(ka, kn, va, vn)
    ON CONFLICT (key) DO UPDATE SET stored = EXCLUDED.stored`,
}
const remove = { name: 'postern unstage', text: `DELETE FROM ${stagedTable} WHERE key = ANY($1::bytea[])` }
const cursor = `DECLARE staged NO SCROLL CURSOR FOR SELECT key, substring(stored FROM 2 FOR 8) AS version, xmin::text AS written FROM ${stagedTable} ORDER BY key`

export async function stageNone(client: Client): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS ${stagedTable}`)
  await client.query(`CREATE TABLE ${stagedTable} (LIKE postern_rows INCLUDING ALL)`)
}

/** Collects rows to write and keys to delete, and sends them in batches. */
export class StagedWrites {
  readonly #client: Client
  readonly #values: LargeValues | undefined
  #rows: SnapshotRow[] = []
  #gone: Bytes[] = []
  #bytes = 0

  constructor(client: Client, values: LargeValues | undefined) {
    this.#client = client
    this.#values = values
  }

  async set(row: SnapshotRow): Promise<void> {
    this.#rows.push(row)
    this.#bytes += row.key.length + row.body.length
    if (this.#rows.length >= maxRows || this.#bytes >= maxBytes) await this.#write()
  }

  async delete(key: Bytes): Promise<void> {
    this.#gone.push(key)
    if (this.#gone.length >= maxRows) await this.#remove()
  }

  async end(): Promise<void> {
    if (this.#rows.length > 0) await this.#write()
    if (this.#gone.length > 0) await this.#remove()
  }

  async #write(): Promise<void> {
    const packed = await Promise.all(this.#rows.map((row) => this.#packed(row)))
    this.#rows = []
    this.#bytes = 0
    await this.#client.query({ ...insert, values: [...packRows(packed)] })
  }

  async #packed({ kind, key, version, body }: SnapshotRow): Promise<PackedRow> {
    if (kind !== 'large') return { key, stored: body }
    const setting = { key, value: body }
    if (!this.#values?.isLarge(setting)) return { key, stored: seal(version, body) }
    await this.#values.keep(setting)
    return { key, stored: this.#values.sealed({ setting, pieces: [body], version }) }
  }

  async #remove(): Promise<void> {
    const keys = this.#gone
    this.#gone = []
    await this.#client.query({ ...remove, values: [keys] })
  }
}

export interface StagedKey {
  readonly key: Buffer
  readonly version: bigint
  /** Number of the transaction that wrote the row. It has 32 bits and wraps around. */
  readonly written: number
}

/** Returns the number of a transaction that starts now. Later writes have later numbers. */
export async function numberOfNow(client: Client): Promise<number> {
  const { rows } = await client.query<{ number: string }>('SELECT pg_current_xact_id()::text AS number')
  return Number(BigInt.asUintN(32, BigInt(rows[0]?.number ?? 0)))
}

/** Numbers below 3 belong to frozen rows, which are older than any transaction. */
export const isWrittenBefore = ({ written }: StagedKey, number: number): boolean => written < 3 || ((number - written) | 0) > 0

/** Returns keys in order, as of the start of the call. Call it inside a transaction. */
export async function* stagedKeys(client: Client): AsyncGenerator<StagedKey> {
  await client.query(cursor)
  for (;;) {
    const { rows } = await client.query<{ key: Buffer; version: Buffer; written: string }>(`FETCH ${maxRows} FROM staged`)
    for (const { key, version, written } of rows) yield { key, version: version.readBigUInt64BE(0), written: Number(written) }
    if (rows.length < maxRows) return
  }
}

export async function stagedCount(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${stagedTable}`)
  return Number(rows[0]?.count)
}

/** Replaces the rows in use. `version`: the highest version of the new rows. Call it inside a transaction. */
export async function putInUse(client: Client, version: bigint): Promise<void> {
  await client.query(`DELETE FROM postern_parts; DROP TABLE postern_rows; ALTER TABLE ${stagedTable} RENAME TO postern_rows;
    ALTER INDEX ${stagedTable}_pkey RENAME TO postern_rows_pkey; COMMENT ON TABLE postern_rows IS NULL;
    SELECT setval('postern_version', GREATEST(last_value, ${version})) FROM postern_version`)
}
