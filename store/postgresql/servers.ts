/** Connects to the server of a store that accepts writes, also after a failover. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client, ClientConfig } from 'pg'
import { StoreFailure, StoreUnavailable } from '../kv.ts'
import type { StoreAddress } from './address.ts'
import { requireSession } from './connections/pooler.ts'
import { breakOff, connected, connectMs, otherSession, prepareSession, servedBy, type Connected } from './connections/session.ts'
import { isAway, isOfOtherSession } from './failures.ts'

const defaultIdleMs = 60_000
const [firstPauseMs, maxPauseMs] = [50, 1000]

export class Servers {
  readonly #open = new Set<Connected>()
  readonly #address: StoreAddress
  readonly #maxOutageMs: number
  /** Index of the server that last accepted writes. It is tried first. */
  #latest = 0
  #looking: Promise<void> | undefined
  /** Highest timeline of a server that accepted writes. A server with a lower timeline was replaced without noticing it. */
  #timeline = 0
  /** Indexes of servers whose pooler keeps sessions. If its configuration changes later, the users of the session notice it. */
  readonly #keepSessions = new Set<number>()

  /** `maxOutageMs`: how long the database may be unreachable, for example during a promotion. */
  constructor(address: StoreAddress, maxOutageMs: number) {
    this.#address = address
    this.#maxOutageMs = maxOutageMs
  }

  get shown(): string {
    return this.#address.shown
  }

  /**
   * Opens a dedicated connection, which ends if a transaction is idle for `idleMs`. Throws `StoreUnavailable` if no server is available
   * now.
   */
  async connect(name: string, idleMs = defaultIdleMs): Promise<Client> {
    const { servers, shown } = this.#address
    if (this.#timeline === 0) await this.lookForPromoted()
    const reasons: string[] = []
    const first = this.#latest
    for (let i = 0; i < servers.length; i++) {
      const at = (first + i) % servers.length
      const server = servers[at] as ClientConfig
      try {
        const made = await connected(server, name, servers.length > 1)
        if (made && made.timeline >= this.#timeline) {
          this.#open.add(made) // from now on it is closed if the server is replaced
          made.client.once('end', () => this.#open.delete(made))
          await this.#prepare(made, at, idleMs)
          this.#prefer(at, made.timeline)
          return made.client
        }
        await made?.client.end()
        reasons.push(`${String(server.host)} ${made ? 'was replaced by a promoted standby' : 'is a standby'}`)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        if (!isAway(error)) throw new StoreUnavailable(`The database at ${shown} refuses: ${(error as Error).message}`, { cause: error })
        reasons.push(messageOf(error))
      }
    }
    throw new StoreUnavailable(`No database accepts writes at ${shown}: ${reasons.join('; ')}.`)
  }

  async #prepare(made: Connected, at: number, idleMs: number): Promise<void> {
    try {
      if (made.isPooled && !this.#keepSessions.has(at)) {
        const other = (): Promise<Connected | undefined> => connected(this.#address.servers[at] as ClientConfig, 'postern probe', false)
        await requireSession(made, other, this.shown)
        this.#keepSessions.add(at)
      }
      await prepareSession(made, idleMs)
    } catch (error) {
      breakOff(made.client)
      throw error
    }
  }

  /**
   * Asks all servers whether they accept writes. After a promotion, closes the connections to an earlier server that still runs. Its writes
   * would be lost as soon as it follows the new server. Does nothing if there is only one server.
   */
  async lookForPromoted(): Promise<void> {
    const { servers } = this.#address
    if (servers.length === 1) return
    const found = await Promise.all(servers.map((server) => timelineOf(server).catch(() => 0)))
    const highest = Math.max(...found)
    if (highest > this.#timeline) this.#prefer(found.indexOf(highest), highest)
  }

  /** Sets the server that is tried first. Closes connections to servers that it replaced. */
  #prefer(at: number, timeline: number): void {
    this.#latest = at
    this.#timeline = timeline
    for (const one of this.#open) if (one.timeline < timeline) breakOff(one.client)
  }

  /**
   * Closes connections that no process of the current server serves. A machine that lost power or hangs does not close its connections, and
   * its queries would wait without end. Closes all connections if no server accepts writes.
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

  /** Repeats work that failed because the database was unreachable. Throws `StoreFailure` after `maxOutageMs`. */
  async patiently<Result>(work: () => Promise<Result>, isOver: () => boolean): Promise<Result> {
    const deadline = performance.now() + this.#maxOutageMs
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        return await work()
      } catch (error) {
        if (isOfOtherSession(error)) throw otherSession(error)
        if (isOver() || !(error instanceof StoreUnavailable || isAway(error))) throw error
        if (performance.now() + pause > deadline) {
          throw new StoreFailure(`The database at ${this.shown} has been unreachable for ${this.#maxOutageMs / 1000} seconds.`, {
            cause: error,
          })
        }
      }
      await wait(pause)
    }
  }
}

/**
 * Returns the timeline of a server that accepts writes; 0 for a standby and for databases without timelines. Throws if the server is
 * unreachable.
 */
async function timelineOf(server: ClientConfig): Promise<number> {
  const made = await connected(server, 'postern probe', true)
  await made?.client.end()
  return made?.timeline ?? 0
}

const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : error instanceof Error ? error.message : String(error)
