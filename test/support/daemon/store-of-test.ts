/** The store of daemons in tests: a folder, or a database on a server that `test/on-postgresql.ts` started for all of them. */
import { createHash } from 'node:crypto'
import { Client } from 'pg'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { storeFolder } from '../../../daemon/process/data-folder.ts'

/** The address of the server, up to the name of the database. */
export const serverVariable = 'POSTERN_TEST_POSTGRESQL'

/** Returns the store setting for a daemon with this data folder. The next process on the folder gets the same database. */
export async function storeSettings(dataDir: string): Promise<Readonly<Record<string, string>>> {
  const server = process.env[serverVariable]
  if (server === undefined) return {}
  const name = `test_${createHash('sha256').update(dataDir).digest('hex').slice(0, 24)}`
  await makeDatabase(server, name)
  return { POSTERN_STORE: `${server}/${name}` }
}

/** Opens the store of that data folder while no daemon runs on it. */
export async function openStoreOf(dataDir: string): Promise<StoreKv> {
  const { POSTERN_STORE: address } = await storeSettings(dataDir)
  return address === undefined ? LevelKv.open(storeFolder(dataDir)) : PostgresKv.open(address, { use: 'alone' })
}

async function makeDatabase(server: string, name: string): Promise<void> {
  const client = new Client({ connectionString: `${server}/postgres` })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  } finally {
    await client.end()
  }
}
