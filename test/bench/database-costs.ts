/** Costs of a database with daemons: processor time, transactions, round trips and log, as the server counts them. */
import type { Postgresql } from '../support/peers/postgresql.ts'
import { processorTimeOfTree } from './resources.ts'

/** Totals since the start of the server. */
export interface DatabaseWork {
  /** Processor time of all server processes, including the WAL writer and the checkpointer. */
  readonly cpuSeconds: number
  /** Transactions with changes: group commits of the daemons, and their heartbeats. */
  readonly commits: number
  /** Queries that a daemon waits for; a batch counts once. */
  readonly roundTrips: number
  readonly statements: number
  readonly walBytes: number
  readonly fsyncs: number
}

/** Started like Debian's server, with an additional module that counts statements. */
export const settingsOfDatabase = [
  'autovacuum=on',
  'shared_buffers=128MB',
  'deadlock_timeout=1s',
  'shared_preload_libraries=pg_stat_statements',
]

export const prepareCounting = (postgresql: Postgresql): Promise<unknown> => postgresql.query('CREATE EXTENSION pg_stat_statements')

/**
 * Statements sent together with another one. A group of writes begins with four in one round trip, and ends with its changes and the commit
 * in another.
 */
const riding = ['BEGIN%', 'UPDATE postern_writers%', 'SELECT nextval%', 'COMMIT%', '%postern_parts%']

export async function workOf(postgresql: Postgresql): Promise<DatabaseWork> {
  const conditions = riding.map((text) => `query LIKE '${text}'`).join(' OR ')
  const [counted] = await postgresql.query(`SELECT coalesce(sum(calls), 0)::float8 AS statements,
      coalesce(sum(calls) FILTER (WHERE NOT (${conditions})), 0)::float8 AS trips,
      coalesce(sum(calls) FILTER (WHERE query LIKE 'COMMIT%'), 0)::float8 AS commits
    FROM pg_stat_statements WHERE dbid <> (SELECT oid FROM pg_database WHERE datname = 'postgres')`)
  const [log] = await postgresql.query(
    `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS octets, wal_sync::float8 AS syncs FROM pg_stat_wal`,
  )
  return {
    cpuSeconds: await processorTimeOfTree(postgresql.pid),
    commits: Number(counted?.['commits']),
    roundTrips: Number(counted?.['trips']),
    statements: Number(counted?.['statements']),
    walBytes: Number(log?.['octets']),
    fsyncs: Number(log?.['syncs']),
  }
}
