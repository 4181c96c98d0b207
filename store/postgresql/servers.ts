/** The servers of a store: connections to the one that takes writes, whichever that is by now. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import { StoreFailure, StoreUnavailable } from '../kv.ts'
import type { StoreAddress } from './address.ts'
import { isAway } from './failures.ts'

const connectMs = 5000
const defaultIdleMs = 60_000
/** A connection that rests so long is looked at, so that nothing on the way forgets it. */
const keepAliveMs = 10_000
const [firstPauseMs, maxPauseMs] = [50, 1000]

/** A connection, and the process of the server that serves it. */
interface Connected {
  readonly client: Client
  /** Names the process among all that ever served, of any server. */
  readonly served: string
  /** One more with each promotion of a standby; 0 where it cannot be asked, or does not matter. */
  readonly timeline: number
}

export class Servers {
  readonly #open = new Set<Connected>()
  readonly #address: StoreAddress
  readonly #patienceMs: number
  /** The one that took writes last is asked first. */
  #latest = 0
  #looking: Promise<void> | undefined
  /** The highest at which a server took writes. One that takes them at a lower one was replaced, and does not know. */
  #timeline = 0

  /** `patienceMs`: for so long the database may be away, as while a standby is promoted. */
  constructor(address: StoreAddress, patienceMs: number) {
    this.#address = address
    this.#patienceMs = patienceMs
  }

  get shown(): string {
    return this.#address.shown
  }

  /** A connection of its own, which ends when a transaction rests for `idleMs`. Throws `StoreUnavailable` when no server can be had now. */
  async connect(name: string, idleMs = defaultIdleMs): Promise<Client> {
    const { servers, shown } = this.#address
    if (this.#timeline === 0) await this.lookForPromoted()
    const reasons: string[] = []
    const first = this.#latest
    for (let i = 0; i < servers.length; i++) {
      const at = (first + i) % servers.length
      const server = servers[at] as ClientConfig
      try {
        const made = await connected(server, name, idleMs, servers.length > 1)
        if (made && made.timeline >= this.#timeline) {
          this.#open.add(made)
          made.client.once('end', () => this.#open.delete(made))
          this.#prefer(at, made.timeline)
          return made.client
        }
        await made?.client.end()
        reasons.push(`${String(server.host)} ${made ? 'was replaced by a standby that was promoted' : 'is a standby'}`)
      } catch (error) {
        if (!isAway(error)) throw new StoreUnavailable(`The database at ${shown} refuses: ${(error as Error).message}`, { cause: error })
        reasons.push(messageOf(error))
      }
    }
    throw new StoreUnavailable(`No database takes writes at ${shown}: ${reasons.join('; ')}.`)
  }

  /**
   * Asks all servers which of them take writes. When a standby was promoted while the earlier server runs on, connections to that one are
   * broken off: what it takes from now on is lost when it follows the new one. Nothing is asked where there is one server only.
   */
  async lookForPromoted(): Promise<void> {
    const { servers } = this.#address
    if (servers.length === 1) return
    const found = await Promise.all(servers.map((server) => timelineOf(server).catch(() => 0)))
    const highest = Math.max(...found)
    if (highest > this.#timeline) this.#prefer(found.indexOf(highest), highest)
  }

  /** The server that is asked first from now on. Connections to those that it replaced are of no use. */
  #prefer(at: number, timeline: number): void {
    this.#latest = at
    this.#timeline = timeline
    for (const one of this.#open) if (one.timeline < timeline) breakOff(one.client)
  }

  /**
   * Breaks connections off that no process of the server serves any more which takes writes now: a machine that lost its power, or hangs,
   * ends none, and what was asked there would be waited for. All of them where there is no such server.
   */
  breakOffLost(): Promise<void> {
    return (this.#looking ??= this.#breakOffLost().finally(() => (this.#looking = undefined)))
  }

  async #breakOffLost(): Promise<void> {
    await this.lookForPromoted()
    const before = [...this.#open]
    const served = await this.#served().catch(() => new Set<string>())
    for (const one of before) if (!served.has(one.served)) breakOff(one.client)
  }

  async #served(): Promise<ReadonlySet<string>> {
    const client = await this.connect('postern probe')
    try {
      const asked = { text: `SELECT ${servedBy('pid')} AS served FROM pg_stat_activity`, query_timeout: connectMs }
      const { rows } = await client.query<{ served: string }>(asked)
      return new Set(rows.map(({ served }) => served))
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Repeats what failed because the database was away, until it is there or patience ends. Throws `StoreFailure` then. */
  async patiently<Result>(work: () => Promise<Result>, isOver: () => boolean): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        return await work()
      } catch (error) {
        if (isOver() || !(error instanceof StoreUnavailable || isAway(error))) throw error
        if (performance.now() + pause > deadline) {
          throw new StoreFailure(`The database at ${this.shown} has been away for ${this.#patienceMs / 1000} seconds.`, { cause: error })
        }
      }
      await wait(pause)
    }
  }
}

/**
 * What is acknowledged is durable, whatever the database's default is. Rows are found by their keys: a plan that was made while the table
 * was small must not read the whole of it once it has grown, and no statement is worth a compilation.
 */
const sessionSettings = [
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
]

const servedBy = (pid: string): string => `${pid} || ' since ' || extract(epoch FROM pg_postmaster_start_time())`

const whoServes = `SELECT pg_is_in_recovery() AS standby, current_setting('synchronous_commit') AS waits,
  ${servedBy('pg_backend_pid()')} AS served`

/** The first part of the name of a file of the log, which is another one at once after a promotion. */
const timelineNow = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int AS timeline"

/** Of a server that takes writes; 0 of a standby, and of a database that has none. Throws when the server is away. */
async function timelineOf(server: ClientConfig): Promise<number> {
  const made = await connected(server, 'postern probe', defaultIdleMs, true)
  await made?.client.end()
  return made?.timeline ?? 0
}

/** Undefined for a standby. */
async function connected(server: ClientConfig, name: string, idleMs: number, isOneOfSeveral: boolean): Promise<Connected | undefined> {
  const client = new Client({
    ...server,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs },
    pipeline: true,
    options: [...sessionSettings, `idle_in_transaction_session_timeout=${idleMs}`].map((setting) => `-c ${setting}`).join(' '),
  })
  client.on('error', () => undefined) // told by the query that needs it
  await client.connect()
  const asked = { text: whoServes, query_timeout: connectMs }
  const { rows } = await client.query<{ standby: boolean; waits: string; served: string }>(asked)
  if (['off', 'local'].includes(rows[0]?.waits ?? '')) {
    await client.end()
    throw new Error('synchronous_commit is off although it was asked for; a pooler has to pass on the options of its clients')
  }
  if (rows[0]?.standby === false) return { client, served: rows[0].served, timeline: isOneOfSeveral ? await askedTimeline(client) : 0 }
  await client.end()
  return undefined
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

/** At once: what was asked on it fails. `end()` would wait for the answers. */
const breakOff = (client: Client): unknown =>
  (client as unknown as { connection: { stream: { destroy(): unknown } } }).connection.stream.destroy()

const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : error instanceof Error ? error.message : String(error)
