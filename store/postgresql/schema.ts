/** The tables of a store, and the requirements for the server. */
import type { Client } from 'pg'
import { StoreUnavailable } from '../kv.ts'
import { daemonTables } from './daemons/membership.ts'
import { tryTable } from './daemons/tries.ts'
import { partTable } from './parts/part-rows.ts'

/** PostgreSQL 13. Tests run on 15 and later, but the statements need only features of 13. */
const minVersion = 130_000

/** Advisory lock for creating tables, because several daemons may start at once. The name in bytes. */
const schemaLock = 0x706f_7374

/**
 * Rows are stored as in the embedded store, with kind and version first; see `engine/codec.ts`. Mail compresses badly and is read whole, so
 * PostgreSQL stores the values uncompressed and out of line. `postern_writers` has a row for each writing process, which shows after a lost
 * connection whether a commit took place. `postern_owner` has a row for the sole owner.
 */
const tables = `
  CREATE TABLE IF NOT EXISTS postern_rows (key bytea PRIMARY KEY, stored bytea NOT NULL);
  ALTER TABLE postern_rows ALTER COLUMN stored SET STORAGE EXTERNAL;
  CREATE TABLE IF NOT EXISTS postern_writers (id uuid PRIMARY KEY, token bigint NOT NULL, began timestamptz NOT NULL DEFAULT now());
  CREATE TABLE IF NOT EXISTS postern_owner (single boolean PRIMARY KEY CHECK (single), writer uuid NOT NULL);
  CREATE SEQUENCE IF NOT EXISTS postern_version INCREMENT BY 4096;
  ${daemonTables}
  ${partTable}
  ${tryTable}
`

/** Number of versions that one value of the sequence covers. */
export const versionsAtOnce = 4096

/** Creates missing tables. Throws `StoreUnavailable` with a sentence for people. */
export async function prepareSchema(client: Client, shown: string): Promise<void> {
  const { rows } = await client.query<{ number: string; fsync: string; full: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full",
  )
  const [server] = rows
  if (Number(server?.number) < minVersion) {
    throw new StoreUnavailable(`The database at ${shown} is older than PostgreSQL 13; upgrade it.`)
  }
  if (server?.fsync !== 'on' || server.full !== 'on') {
    throw new StoreUnavailable(`The database at ${shown} runs without fsync or full_page_writes and would lose mail; set both to on.`)
  }
  try {
    await makeTables(client)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new StoreUnavailable(
      `The user of ${shown} may not create tables there: GRANT CREATE ON SCHEMA public, or give the user a separate schema. (${(error as Error).message})`,
      { cause: error },
    )
  }
}

async function makeTables(client: Client): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>("SELECT to_regclass('postern_tries') IS NOT NULL AS there")
  if (rows[0]?.there === true) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock])
    await client.query(tables)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined) // fails if the connection has ended; the first error has the reason
    throw error
  }
}
