/** One session at a server: how it is begun, what is set in it, and whether a connection still leads to it. */
import { Client, type ClientConfig } from 'pg'
import { StoreFailure } from '../../kv.ts'

export const connectMs = 5000
/** A connection that rests so long is looked at, so that nothing on the way forgets it. */
const keepAliveMs = 10_000

/** A connection, and the process of the server that serves it. */
export interface Connected {
  readonly client: Client
  /** Names the process among all that ever served, of any server. */
  readonly served: string
  /** Of the process that serves it. */
  readonly pid: number
  /** One more with each promotion of a standby; 0 where it cannot be asked, or does not matter. */
  readonly timeline: number
  /** A pooler is in between: the server gave the connection another number than that of the process that serves it. */
  readonly isPooled: boolean
}

/**
 * What is acknowledged is durable, whatever the database's default is. Rows are found by their keys: a plan that was made while the table
 * was small must not read the whole of it once it has grown, and no statement is worth a compilation.
 */
const settings = `SET synchronous_commit = on; SET default_transaction_isolation = 'read committed';
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off`

export const servedBy = (pid: string): string => `${pid} || ' since ' || extract(epoch FROM pg_postmaster_start_time())`

const whoServes = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() AS pid, ${servedBy('pg_backend_pid()')} AS served`

/** The first part of the name of a file of the log, which is another one at once after a promotion. */
const timelineNow = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int AS timeline"

/** Of each connection that was prepared: the process that has its settings and its locks. */
const processes = new WeakMap<Client, number>()

/** Undefined for a standby. Nothing is set yet. */
export async function connected(server: ClientConfig, name: string, isOneOfSeveral: boolean): Promise<Connected | undefined> {
  const client = new Client({
    ...server,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs },
    pipeline: true,
  })
  client.on('error', () => undefined) // told by the query that needs it
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
      `${host} took the connection and gave no answer within ${connectMs / 1000} seconds, as a pooler does whose pool (default_pool_size) is used up`,
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
    return 0 // not every database that speaks the protocol has such a log
  }
}

/**
 * Set by statements, as a pooler refuses or drops what a client asks for as it connects. The session ends when a transaction rests for
 * `idleMs`.
 */
export async function prepareSession({ client, pid }: Connected, idleMs: number): Promise<void> {
  const text = `${settings}; SET idle_in_transaction_session_timeout = ${idleMs}; SELECT current_setting('synchronous_commit') AS waits`
  const asked = { text, query_timeout: connectMs }
  const results = (await client.query(asked)) as unknown as readonly { readonly rows: readonly { readonly waits?: string }[] }[]
  if (['off', 'local'].includes(results.at(-1)?.rows[0]?.waits ?? '')) {
    throw new Error('synchronous_commit is off although it was set; a pooler has to pass on what its clients set')
  }
  processes.set(client, pid)
}

/**
 * For what the process says that served a statement. Throws `StoreFailure` when it is another one than at first: a pooler that does so has
 * given away the settings, the locks and the notices of this daemon.
 */
export function requireSameSession(client: Client, pid: number): void {
  const known = processes.get(client)
  if (known === undefined || known === pid) return
  throw otherSession()
}

export const otherSession = (cause?: unknown): StoreFailure =>
  new StoreFailure(
    'A pooler gave a connection to the database another session: it has to give each client the same one all the time (pool_mode = session).',
    { cause },
  )

/** At once: what was asked on it fails. `end()` would wait for the answers. */
export const breakOff = (client: Client): unknown =>
  (client as unknown as { connection: { stream: { destroy(): unknown } } }).connection.stream.destroy()
