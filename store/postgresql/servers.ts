/** The servers of a store: connections to the one that takes writes, whichever that is by now. */
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
  /** The one that took writes last is asked first. */
  #latest = 0
  #looking: Promise<void> | undefined
  /** The highest at which a server took writes. One that takes them at a lower one was replaced, and does not know. */
  #timeline = 0
  /** Those whose pooler was found to keep sessions. One that is set otherwise later is noticed by what uses the session. */
  readonly #keepSessions = new Set<number>()

  /** `maxOutageMs`: for so long the database may be away, as while a standby is promoted. */
  constructor(address: StoreAddress, maxOutageMs: number) {
    this.#address = address
    this.#maxOutageMs = maxOutageMs
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
        const made = await connected(server, name, servers.length > 1)
        if (made && made.timeline >= this.#timeline) {
          this.#open.add(made) // from now on it is broken off when the server was replaced
          made.client.once('end', () => this.#open.delete(made))
          await this.#prepare(made, at, idleMs)
          this.#prefer(at, made.timeline)
          return made.client
        }
        await made?.client.end()
        reasons.push(`${String(server.host)} ${made ? 'was replaced by a standby that was promoted' : 'is a standby'}`)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        if (!isAway(error)) throw new StoreUnavailable(`The database at ${shown} refuses: ${(error as Error).message}`, { cause: error })
        reasons.push(messageOf(error))
      }
    }
    throw new StoreUnavailable(`No database takes writes at ${shown}: ${reasons.join('; ')}.`)
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

  /** Repeats what failed because the database was away, for at most `maxOutageMs`. Throws `StoreFailure` then. */
  async patiently<Result>(work: () => Promise<Result>, isOver: () => boolean): Promise<Result> {
    const deadline = performance.now() + this.#maxOutageMs
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        return await work()
      } catch (error) {
        if (isOfOtherSession(error)) throw otherSession(error)
        if (isOver() || !(error instanceof StoreUnavailable || isAway(error))) throw error
        if (performance.now() + pause > deadline) {
          throw new StoreFailure(`The database at ${this.shown} has been away for ${this.#maxOutageMs / 1000} seconds.`, { cause: error })
        }
      }
      await wait(pause)
    }
  }
}

/** Of a server that takes writes; 0 of a standby, and of a database that has none. Throws when the server is away. */
async function timelineOf(server: ClientConfig): Promise<number> {
  const made = await connected(server, 'postern probe', true)
  await made?.client.end()
  return made?.timeline ?? 0
}

const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : error instanceof Error ? error.message : String(error)
