/** A session at a server: its start, its settings, and the check that a connection still reaches it. */
import { Client, type ClientConfig } from 'pg'
import { StoreFailure } from '../../kv.ts'

export const connectMs = 5000
/** An idle connection is probed after this time, so that no device on the path drops it. */
const keepAliveMs = 10_000

/** A connection, and the server process that serves it. */
export interface Connected {
  readonly client: Client
  /** Identifies the process among all processes of all servers at any time. */
  readonly served: string
  /** Process id of the server process. */
  readonly pid: number
  /** Increases with each promotion of a standby. 0 if it is unknown or not needed. */
  readonly timeline: number
  /** The connection goes through a pooler: the process id in the handshake differs from the id of the serving process. */
  readonly isPooled: boolean
}

/**
 * Acknowledged writes are durable regardless of the defaults of the database. Rows are looked up by key: a plan made while the table was
 * small must not scan the whole table later. Compilation costs more than any statement saves.
 */
const settings = `SET synchronous_commit = on; SET default_transaction_isolation = 'read committed';
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off`

export const servedBy = (pid: string): string => `${pid} || ' since ' || extract(epoch FROM pg_postmaster_start_time())`

const whoServes = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, ${servedBy('pg_backend_pid()')} AS served`

/** First part of the name of a WAL file. It changes immediately after a promotion. */
const timelineNow = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int AS timeline"

/** For each prepared connection, the process that has its settings and locks. */
const processes = new WeakMap<Client, number>()

/** Returns undefined for a standby. Does not change settings. */
export async function connected(server: ClientConfig, name: string, isOneOfSeveral: boolean): Promise<Connected | undefined> {
  const client = new Client({
    ...server,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs },
    pipeline: true,
  })
  client.on('error', () => undefined) // the query that needs the connection reports the error
  await client.connect()
  try {
    const row = await whoIs(client, String(server.host))
    if (row?.standby === false) {
      const { pid, served } = row
      const { processID } = client as unknown as { readonly processID: number | null }
      return { client, served, pid, isPooled: processID !== pid, timeline: isOneOfSeveral ? await askedTimeline(client) : 0 }
    }
    await client.end()
    return undefined
  } catch (error) {
    breakOff(client)
    throw error
  }
}

interface Server {
  readonly standby: boolean
  readonly pid: number
  readonly served: string
}

async function whoIs(client: Client, host: string): Promise<Server | undefined> {
  try {
    const asked = { text: whoServes, query_timeout: connectMs }
    return (await client.query<Server>(asked)).rows[0]
  } catch (error) {
    if (!(error instanceof Error && error.message === 'Query read timeout')) throw error
    throw new Error(
      `${host} accepted the connection but did not respond within ${connectMs / 1000} seconds. If it is a pooler, its pool (default_pool_size) may be exhausted`,
      { cause: error },
    )
  }
}

async function askedTimeline(client: Client): Promise<number> {
  try {
    const asked = { text: timelineNow, query_timeout: connectMs }
    const { rows } = await client.query<{ timeline: number }>(asked)
    return rows[0]?.timeline ?? 0
  } catch {
    return 0 // some databases that speak the protocol have no such log
  }
}

/**
 * Sends settings as statements, because poolers refuse or drop startup parameters. The session ends if a transaction is idle for `idleMs`.
 */
export async function prepareSession({ client, pid }: Connected, idleMs: number): Promise<void> {
  const text = `${settings}; SET idle_in_transaction_session_timeout = ${idleMs}; SELECT current_setting('synchronous_commit') AS waits`
  const asked = { text, query_timeout: connectMs }
  const results = (await client.query(asked)) as unknown as readonly { readonly rows: readonly { readonly waits?: string }[] }[]
  if (['off', 'local'].includes(results.at(-1)?.rows[0]?.waits ?? '')) {
    throw new Error('synchronous_commit is off although it was set; a pooler must pass on the settings of its clients')
  }
  processes.set(client, pid)
}

/**
 * Compares the process that served a statement with the first process. Throws `StoreFailure` if it differs: the settings, locks and
 * notifications of this daemon are lost.
 */
export function requireSameSession(client: Client, pid: number): void {
  const known = processes.get(client)
  if (known === undefined || known === pid) return
  throw otherSession()
}

export const otherSession = (cause?: unknown): StoreFailure =>
  new StoreFailure('A pooler gave a database connection another session. It must keep one session for each client (pool_mode = session).', {
    cause,
  })

/** Closes the connection at once, so that its queries fail. `end()` would wait for their results. */
export const breakOff = (client: Client): unknown =>
  (client as unknown as { connection: { stream: { destroy(): unknown } } }).connection.stream.destroy()
