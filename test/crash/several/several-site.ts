/** Environment of the crash test with several daemons: each daemon has a clock and separate links to the database servers. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor, waiting } from '../../support/waits.ts'
import { Daemon, newAdminKey, runCommand } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { Front } from '../../support/network/front.ts'
import { Postgresql } from '../../support/peers/postgresql.ts'
import { SteppedClock } from '../../support/peers/stepped-clock.ts'
import type { Seeded } from '../../support/seeded.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { faultScript, refuseForGood } from '../faults.ts'
import { Ledger, type Fate } from '../ledger.ts'
import { domainOf } from '../load.ts'

/** Faults of one or two daemons. */
export const blowsAtDaemons = ['kill', 'pause', 'cut', 'blink', 'stop', 'kill two'] as const
/** A standby replaces the primary, which is gone, hangs, or continues to run. This happens once, because there is no further standby. */
const failovers = ['fail over', 'freeze', 'split'] as const
/** Faults of daemons, of the database, or of all clocks. */
export const blows = [...blowsAtDaemons, 'database', 'clocks', ...failovers] as const
export type Blow = (typeof blows)[number]
type Failover = (typeof failovers)[number]

const isFailover = (blow: Blow): blow is Failover => failovers.some((one) => one === blow)

const count = 3
/** Pauses longer than the allowed silence of a daemon, and much shorter ones. */
const [pausedMs, blinkMs] = [9000, 1500]
/** Differences of the machines' clocks from the right time in seconds: at their start, then in turn. */
const clocks = [0, 90, -200]
const setTo = { back: [-900, -300], ahead: [600, 7200] }
/** Clock changes of the database server: far forward, then slightly back, because queued mail would wait for the difference. */
const serverClocks = [300, 290]

/** Master key of all daemons; `verify` compares it too. */
const masterKey = Buffer.alloc(32, 7).toString('base64')

/** A daemon, and the links between it and the other servers. */
interface Place {
  readonly daemon: Daemon
  readonly fronts: readonly Front[]
  readonly clock: SteppedClock
}

export class Site implements AsyncDisposable {
  readonly ledger = new Ledger()
  readonly sink: Sink
  logins!: Readonly<Record<Fate, Login>>
  readonly #places: Place[] = []
  /** The first server is the primary. */
  readonly #servers: Postgresql[]
  /** Ports of the servers in the settings of the daemons. */
  readonly #ports: readonly number[]
  readonly #database: string
  readonly #ends: AsyncDisposableStack
  readonly #folder: string
  readonly #adminKey = newAdminKey()
  #folders = 0

  private constructor(servers: readonly Postgresql[], database: string, folder: string, sink: Sink, ends: AsyncDisposableStack) {
    this.#servers = [...servers]
    this.#ports = servers.map(({ port }) => port)
    this.#database = database
    this.#folder = folder
    this.sink = sink
    this.#ends = ends
  }

  /** Starts a server, with a standby if a fault needs one. The caller stops the server. */
  static async build(server: Postgresql, blows: readonly Blow[]): Promise<Site> {
    await using ends = new AsyncDisposableStack()
    const folder = ends.use(await temporaryFolder('several'))
    const sink = ends.use(await Sink.listen())
    const database = await server.database()
    const hasStandby = blows.some(isFailover)
    const servers = hasStandby ? [server, ends.use(await Postgresql.standbyOf(server))] : [server]
    const site = new Site(servers, database.slice(database.lastIndexOf('/')), folder.path, sink, ends.move())
    site.answer()
    sink.on('delivery', (delivery) => site.ledger.delivered(delivery))
    await site.fill()
    const { rest } = site.one
    const relay = await makeDestination(rest, { name: 'smart host', port: sink.port, mode: 'live' })
    const capture = await makeDestination(rest, { name: 'sandbox', port: sink.port, mode: 'sandbox' })
    await makeRoute(rest, relay, domainOf.relay)
    await makeRoute(rest, capture, domainOf.capture)
    const allowed = { allowed_from_domains: Object.values(domainOf) }
    site.logins = { relay: await makeLogin(rest, relay, allowed), capture: await makeLogin(rest, capture, allowed) }
    return site
  }

  answer(): void {
    this.sink.script = { recipient: refuseForGood }
  }

  /** Delays the replies of the smart host after the final dot, so that faults of daemons also happen there. */
  answerSlowly(seed: string): void {
    const ended = Promise.resolve()
    this.sink.script = faultScript({ name: 'slow', seed, ended, hangingUpOn: (content) => this.ledger.hungUpOn(content) })
  }

  get daemons(): readonly Daemon[] {
    return this.#places.map(({ daemon }) => daemon)
  }

  get one(): Daemon {
    const [first] = this.daemons
    if (!first) throw new Error('no daemon runs')
    return first
  }

  get #server(): Postgresql {
    return this.#servers[0] as Postgresql
  }

  /** Starts the missing daemons, each with an empty folder, as on new machines. */
  async fill(): Promise<void> {
    const env = {
      POSTERN_MASTER_KEY: masterKey,
      POSTERN_STORE_BALLAST_BYTES: '0',
      POSTERN_DELIVERY_RETRY_SECONDS: '1,1,2',
      POSTERN_DELIVERY_JITTER: '0.1',
    }
    await Promise.all(Array.from({ length: count - this.#places.length }, () => this.#start(env)))
  }

  async #start(env: Readonly<Record<string, string>>): Promise<void> {
    const number = ++this.#folders
    const fronts = await Promise.all(this.#ports.map(async (port) => this.#ends.use(await Front.to(port))))
    const clock = new SteppedClock(join(this.#folder, `${number}.clock`), clocks[number % clocks.length] ?? 0)
    const store = this.#address(fronts)
    const options = { folder: join(this.#folder, String(number)), env: { ...env, ...clock.env, POSTERN_STORE: store } }
    const daemon = this.#ends.use(await Daemon.start(options, this.#adminKey))
    this.#places.push({ daemon, fronts, clock })
  }

  #address(servers: readonly { readonly port: number }[]): string {
    return `postgresql://postern@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}${this.#database}`
  }

  /** Makes commits wait for the standby, which a failover needs. */
  async prepare(blow: Blow): Promise<void> {
    if (isFailover(blow)) await this.#server.replicateSynchronously()
  }

  async strike(blow: Blow, random: Seeded): Promise<void> {
    if (blow === 'database') return this.#restartDatabase(random)
    if (blow === 'clocks') return this.#stepClocks(random)
    if (isFailover(blow)) return this.#failOver(blow)
    const place = this.#pick(random)
    const { daemon } = place
    if (blow === 'stop') return this.#stop(daemon, 'under load')
    if (blow === 'blink') return this.#blink(place)
    this.ledger.killed()
    if (blow === 'pause') return this.#pause(daemon)
    if (blow === 'cut') return this.#cut(place)
    await daemon.kill()
    if (blow === 'kill two') await this.strike('kill', random)
  }

  /** Removes a random daemon from the running ones. */
  #pick(random: Seeded): Place {
    const [place] = this.#places.splice(random.between(0, this.#places.length - 1), 1)
    if (!place) throw new Error('no daemon runs')
    return place
  }

  async #stop(daemon: Daemon, when: string): Promise<void> {
    const exit = await daemon.stop()
    if (exit.code !== 0) this.ledger.fault(`SIGTERM ${when}: ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
  }

  async #restartDatabase(random: Seeded): Promise<void> {
    await this.#server.stopServer('SIGQUIT')
    await pause(random.between(0, 2000))
    await this.#server.startServer()
  }

  /**
   * Sets the clocks of all machines, hours ahead or minutes back, under load and while the daemons wait for the database. Then sets the
   * clock of the database. All daemons must continue.
   */
  async #stepClocks(random: Seeded): Promise<void> {
    const setAll = async (to: readonly number[]): Promise<void> => {
      for (const { clock } of this.#places) clock.set(random.pick(to))
      await Promise.all(this.#places.map((place) => this.#seesItsClock(place)))
    }
    await setAll(setTo.back)
    const server = this.#server.clock()
    await this.#server.stopServer('SIGQUIT')
    await setAll(setTo.ahead)
    await this.#server.startServer()
    await this.#goOn()
    await setAll(setTo.back)
    for (const seconds of serverClocks) {
      server.set(seconds)
      await waitFor('the database sees its clock', async () => {
        const [row] = await this.#server.query('SELECT extract(epoch FROM clock_timestamp())::float8 AS now')
        return Math.abs(Number(row?.['now']) * 1000 - server.now) < 2000 || undefined
      })
      await this.#goOn()
    }
  }

  /** Reads the clock from the daemon's responses, which need no database. */
  async #seesItsClock({ daemon, clock }: Place): Promise<void> {
    await waitFor('a daemon sees its clock', async () => {
      const { headers } = await daemon.rest.call('GET', '/healthz')
      return Math.abs(Date.parse(String(headers.date)) - clock.now) < 3000 || undefined
    })
  }

  /** Makes all daemons write. */
  async #goOn(): Promise<void> {
    const write = async (daemon: Daemon, at: number): Promise<void> => {
      try {
        await daemon.rest.must('POST', '/v1/suppressions', { email: `${at}@nowhere.test` })
      } catch (error) {
        throw new Error(`a daemon does not go on:\n${daemon.log.slice(-2000)}`, { cause: error })
      }
    }
    await waiting('all daemons continue', Promise.all(this.daemons.map(write)))
  }

  /** The primary is gone or hangs without closing connections. The standby replaces it, and all daemons must continue. */
  async #failOver(blow: Failover): Promise<void> {
    const [first, standby] = this.#servers
    if (!first || !standby) throw new Error('there is no standby')
    if (blow === 'freeze') first.freeze()
    else if (blow === 'fail over') await first.stopServer('SIGQUIT')
    standby.promote()
    this.#servers.shift()
    await this.#goOn()
  }

  /** The daemon must notice the takeover and stop. */
  async #pause(daemon: Daemon): Promise<void> {
    process.kill(daemon.addresses.pid, 'SIGSTOP')
    await pause(pausedMs)
    process.kill(daemon.addresses.pid, 'SIGCONT')
    await this.#takenOut(daemon)
  }

  /** Other daemons take over from a daemon without access to the database. It stops when it reaches the database again. */
  async #cut({ daemon, fronts }: Place): Promise<void> {
    for (const front of fronts) front.refuse()
    await pause(pausedMs)
    for (const front of fronts) front.forward()
    await this.#takenOut(daemon)
  }

  /** Cuts the daemon off briefly. It completes its work when it reaches the database again. */
  async #blink(place: Place): Promise<void> {
    for (const front of place.fronts) front.refuse()
    await pause(blinkMs)
    for (const front of place.fronts) front.forward()
    await waiting('a daemon answers after a short cut', place.daemon.rest.must('GET', '/v1/projects/me'))
    this.#places.push(place)
  }

  async #takenOut(daemon: Daemon): Promise<void> {
    this.ledger.killed() // the smart host may still reply to data already sent
    const exit = await waiting('a replaced daemon ends', daemon.exited)
    if (exit.code !== 70) this.ledger.fault(`away for ${pausedMs} ms, it ended with ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
  }

  /** Stops a daemon in order, so that all replies of the smart host are recorded, and starts a new one. */
  async recordAll(): Promise<void> {
    for (const { daemon } of this.#places.splice(1)) await this.#stop(daemon, 'after the load')
    await this.fill()
  }

  /** Stops all daemons in order and verifies the store. */
  async end(): Promise<void> {
    for (const daemon of this.daemons) await this.#stop(daemon, 'at the end')
    const env = { POSTERN_STORE: this.#address(this.#servers), POSTERN_MASTER_KEY: masterKey }
    const verified = await runCommand({ folder: this.#folder, env }, 'verify')
    if (verified.code !== 0) this.ledger.problem(`verify ended with ${String(verified.code)}:\n${verified.output.slice(-3000)}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync()
  }
}
