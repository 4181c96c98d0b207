/** The servers of a store: connections to the one that takes writes, whichever that is by now. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import { StoreFailure, StoreUnavailable } from '../kv.ts'
import type { StoreAddress } from './address.ts'
import { isAway } from './failures.ts'

const connectMs = 5000
const defaultIdleMs = 60_000
const [firstPauseMs, maxPauseMs] = [50, 1000]

export class Servers {
  readonly #address: StoreAddress
  readonly #patienceMs: number
  /** The one that took writes last is asked first. */
  #latest = 0

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
    const reasons: string[] = []
    for (let i = 0; i < servers.length; i++) {
      const at = (this.#latest + i) % servers.length
      const server = servers[at] as ClientConfig
      try {
        const client = await connected(server, name, idleMs)
        if (client) {
          this.#latest = at
          return client
        }
        reasons.push(`${String(server.host)} is a standby`)
      } catch (error) {
        if (!isAway(error)) throw new StoreUnavailable(`The database at ${shown} refuses: ${(error as Error).message}`, { cause: error })
        reasons.push(messageOf(error))
      }
    }
    throw new StoreUnavailable(`No database takes writes at ${shown}: ${reasons.join('; ')}.`)
  }

  /** Repeats what failed because the database was away, until it is there or patience ends. Throws `StoreFailure` then. */
  async patiently<Result>(work: () => Promise<Result>, isOver: () => boolean): Promise<Result> {
    const deadline = Date.now() + this.#patienceMs
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        return await work()
      } catch (error) {
        if (isOver() || !(error instanceof StoreUnavailable || isAway(error))) throw error
        if (Date.now() + pause > deadline) {
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

/** Undefined for a standby. */
async function connected(server: ClientConfig, name: string, idleMs: number): Promise<Client | undefined> {
  const client = new Client({
    ...server,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    pipeline: true,
    options: [...sessionSettings, `idle_in_transaction_session_timeout=${idleMs}`].map((setting) => `-c ${setting}`).join(' '),
  })
  client.on('error', () => undefined) // told by the query that needs it
  await client.connect()
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
  if (rows[0]?.standby === false) return client
  await client.end()
  return undefined
}

const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : error instanceof Error ? error.message : String(error)
