/** Current condition of the database server, for `postern doctor`. */
import type { Client } from 'pg'
import { parseStoreAddress } from './address.ts'
import { isHadAlone } from './ownership.ts'
import { Servers } from './servers.ts'
import { stagedTable } from './staged-rows.ts'

export interface StandbyCondition {
  readonly name: string
  /** Age of the oldest commit that the standby has not replayed, in seconds. */
  readonly lagSeconds: number
}

export interface DatabaseCondition {
  /** The address without the password. */
  readonly shown: string
  /** For example `16.4`. */
  readonly version: string
  /** Settings with values that lose acknowledged writes in a crash: `fsync`, `full_page_writes`, `synchronous_commit`. */
  readonly unsafe: readonly string[]
  /** Connections of all users of the server, and their limit. */
  readonly connections: { readonly used: number; readonly limit: number }
  /** Standbys that the user of the store may see. */
  readonly standbys: readonly StandbyCondition[]
  /** Size of a leftover copy of a store, such as `12 MB`, if no command is using it; otherwise null. */
  readonly forgottenCopy: string | null
  /** The server archives its log (`archive_mode`), and the latest attempt succeeded. */
  readonly isArchived: boolean
  /** Difference between the clock of the server and the clock of this machine, in milliseconds. Positive if the server is ahead. */
  readonly clockLagMs: number
}

interface ServerRow {
  readonly version: string
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly used: string
  readonly most: string
  readonly copy: string | null
  readonly archived: boolean | null
  readonly now: string
}

const server = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' OR backend_type IS NULL) AS used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  CASE WHEN NOT ${isHadAlone} THEN pg_size_pretty(pg_total_relation_size(to_regclass('${stagedTable}'))) END AS copy,
  current_setting('archive_mode') <> 'off' AND (SELECT last_archived_time IS NOT NULL
    AND last_archived_time >= coalesce(last_failed_time, last_archived_time) FROM pg_stat_archiver) AS archived,
  extract(epoch FROM clock_timestamp()) * 1000 AS now`
/** The columns are null without the right to read them. */
const standbys = `SELECT coalesce(nullif(application_name, ''), client_addr::text, 'standby') AS name,
  extract(epoch FROM replay_lag)::float AS lag FROM pg_stat_replication WHERE replay_lag IS NOT NULL`

/** Opens a separate connection. Throws `StoreUnavailable` if no server accepts writes now. */
export async function databaseCondition(address: string): Promise<DatabaseCondition> {
  const servers = new Servers(parseStoreAddress(address), 0)
  const client = await servers.connect('postern doctor')
  try {
    return await look(client, servers.shown)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function look(client: Client, shown: string): Promise<DatabaseCondition> {
  const asked = Date.now()
  const [row] = (await client.query<ServerRow>(server)).rows
  const answered = Date.now()
  if (!row) throw new Error('The database returned no row.')
  const { rows } = await client.query<{ name: string; lag: number }>(standbys)
  const unsafe = Object.entries({
    fsync: row.fsync !== 'on',
    full_page_writes: row.full_page_writes !== 'on',
    synchronous_commit: ['off', 'local'].includes(row.synchronous_commit),
  })
  return {
    shown,
    version: row.version.split(' ')[0] ?? '',
    unsafe: unsafe.filter(([, isUnsafe]) => isUnsafe).map(([name]) => name),
    connections: { used: Number(row.used), limit: Number(row.most) },
    standbys: rows.map(({ name, lag }) => ({ name, lagSeconds: lag })),
    forgottenCopy: row.copy,
    isArchived: row.archived === true,
    clockLagMs: Number(row.now) - (asked + answered) / 2,
  }
}
