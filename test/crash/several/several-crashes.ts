/**
 * Three daemons at one database, all of them under load, while daemons and the database are killed, stopped and cut off: at the end the
 * book of what was promised is compared with what arrived, as with one daemon.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../../support/deadline.ts'
import { Daemon, newAdminKey, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { CuttableLink } from '../../support/peers/cuttable-link.ts'
import type { Postgresql } from '../../support/peers/postgresql.ts'
import { Seeded } from '../../support/seeded.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { auditCaptures, auditTraces } from '../crash-audit.ts'
import type { CrashReport } from '../crash-test.ts'
import { refuseForGood } from '../faults.ts'
import { Ledger, type Fate } from '../ledger.ts'
import { domainOf, repeatKeys, restLoad, smtpLoad, type Load } from '../load.ts'

/** What happens in a round, to one daemon or to the database. */
export const blows = ['kill', 'pause', 'database', 'cut', 'blink', 'stop', 'kill two'] as const
export type Blow = (typeof blows)[number]

export interface SeveralOptions {
  readonly seed: number
  readonly rounds: readonly Blow[]
  readonly postgresql: Postgresql
}

const count = 3
const mostPerClient = 60
/** Longer than a daemon may be silent; and much shorter. */
const [pausedMs, blinkMs] = [9000, 1500]
/** What the clocks of three machines say, in seconds, beside the right time. */
const clocks = [0, 90, -200]
const drainMs = 90_000

class Site implements AsyncDisposable {
  readonly ledger = new Ledger()
  readonly daemons: Daemon[] = []
  readonly #postgresql: Postgresql
  readonly #database: string
  readonly #ends: AsyncDisposableStack
  readonly #folder: string
  readonly #adminKey = newAdminKey()
  readonly sink: Sink
  logins!: Readonly<Record<Fate, Login>>
  readonly #links = new Map<Daemon, CuttableLink>()
  #folders = 0

  private constructor(postgresql: Postgresql, database: string, folder: string, sink: Sink, ends: AsyncDisposableStack) {
    this.#postgresql = postgresql
    this.#database = database
    this.#folder = folder
    this.sink = sink
    this.#ends = ends
  }

  static async build(postgresql: Postgresql): Promise<Site> {
    await using ends = new AsyncDisposableStack()
    const folder = ends.use(await temporaryFolder('several'))
    const sink = ends.use(await Sink.listen())
    const site = new Site(postgresql, await postgresql.database(), folder.path, sink, ends.move())
    sink.script = { recipient: refuseForGood }
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

  get one(): Daemon {
    const [first] = this.daemons
    if (!first) throw new Error('no daemon runs')
    return first
  }

  /** Starts as many daemons as are missing, each in a folder of its own, as new machines have it. */
  async fill(): Promise<void> {
    const env = {
      POSTERN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      POSTERN_STORE_BALLAST_BYTES: '0',
      POSTERN_DELIVERY_RETRY_SECONDS: '1,1,2',
      POSTERN_DELIVERY_JITTER: '0.1',
    }
    await Promise.all(Array.from({ length: count - this.daemons.length }, () => this.#start(env)))
  }

  async #start(env: Readonly<Record<string, string>>): Promise<void> {
    const number = ++this.#folders
    const link = this.#ends.use(await CuttableLink.to(this.#postgresql.port))
    const store = this.#database.replace(`:${this.#postgresql.port}/`, `:${link.port}/`)
    const clock = setBy(clocks[number % clocks.length] ?? 0)
    const options = { folder: join(this.#folder, String(number)), env: { ...env, ...clock, POSTERN_STORE: store } }
    const daemon = this.#ends.use(await Daemon.start(options, this.#adminKey))
    this.#links.set(daemon, link)
    this.daemons.push(daemon)
  }

  /** Takes one out of those that run. */
  pick(random: Seeded): Daemon {
    const [daemon] = this.daemons.splice(random.between(0, this.daemons.length - 1), 1)
    if (!daemon) throw new Error('no daemon runs')
    return daemon
  }

  async strike(blow: Blow, random: Seeded): Promise<void> {
    if (blow === 'database') {
      await this.#postgresql.stopServer('SIGQUIT')
      await pause(random.between(0, 2000))
      return this.#postgresql.startServer()
    }
    const daemon = this.pick(random)
    if (blow === 'stop') {
      const exit = await daemon.stop()
      if (exit.code !== 0) this.ledger.problem(`SIGTERM under load: ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
      return
    }
    if (blow === 'blink') return this.#blink(daemon)
    this.ledger.killed()
    if (blow === 'pause') return this.#pause(daemon)
    if (blow === 'cut') return this.#cut(daemon)
    await daemon.kill()
    if (blow === 'kill two') await this.strike('kill', random)
  }

  /** It must notice that others took over, and end. */
  async #pause(daemon: Daemon): Promise<void> {
    process.kill(daemon.addresses.pid, 'SIGSTOP')
    await pause(pausedMs)
    process.kill(daemon.addresses.pid, 'SIGCONT')
    await this.#takenOut(daemon)
  }

  /** Others take over from a daemon that is cut off from the database: it ends once it sees that again. */
  async #cut(daemon: Daemon): Promise<void> {
    const link = this.#links.get(daemon)
    link?.cut()
    await pause(pausedMs)
    link?.mend()
    await this.#takenOut(daemon)
  }

  /** What it was just doing is done when it sees the database again; it goes on. */
  async #blink(daemon: Daemon): Promise<void> {
    const link = this.#links.get(daemon)
    link?.cut()
    await pause(blinkMs)
    link?.mend()
    await within(20_000, 'a daemon that was cut off for a moment answers', daemon.rest.must('GET', '/v1/projects/me'))
    this.daemons.push(daemon)
  }

  async #takenOut(daemon: Daemon): Promise<void> {
    this.ledger.killed() // what was on its way may still get its answer
    const exit = await within(20_000, 'a daemon that others took over from ends', daemon.exited)
    if (exit.code !== 70) this.ledger.problem(`away for ${pausedMs} ms, it ended with ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
  }

  /** Ends all in order, and walks the store. */
  async end(): Promise<void> {
    for (const daemon of this.daemons) {
      const exit = await daemon.stop()
      if (exit.code !== 0) this.ledger.problem(`SIGTERM at the end: ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
    }
    const verified = await runCommand({ folder: this.#folder, env: { POSTERN_STORE: this.#database } }, 'verify')
    if (verified.code !== 0) this.ledger.problem(`verify ended with ${String(verified.code)}:\n${verified.output.slice(-3000)}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ends.disposeAsync()
  }
}

/** The variables under which a process has another time of day; how fast time goes by stays the same. */
function setBy(seconds: number): Readonly<Record<string, string>> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1')
  if (seconds === 0 || library === undefined) return {}
  return { LD_PRELOAD: library, FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

/** Runs all rounds and the audit. What the daemons did wrong is in `problems`. */
export async function severalCrashes({ seed, rounds, postgresql }: SeveralOptions): Promise<CrashReport> {
  const random = new Seeded(seed)
  await using site = await Site.build(postgresql)
  const { ledger } = site
  for (const [number, blow] of rounds.entries()) {
    await site.fill()
    const over = new AbortController()
    const clients = Promise.all(startClients(site, random.branch(`round ${number}`), number, over.signal))
    await pause(random.between(300, 1500))
    await site.strike(blow, random)
    over.abort()
    await within(40_000, 'all clients noticed the end of the round', clients)
  }
  await site.fill()
  await within(drainMs, `delivery of the last ${ledger.awaited} recipients`, ledger.drained()).catch(async (error: unknown) => {
    const { bytes } = await site.one.rest.call('GET', `/v1/traces/${String(ledger.oneAwaited()?.traceId)}`)
    ledger.problem(`${String(error)}; ${ledger.awaited} are missing, one of them:\n${bytes.toString('utf8')}`)
  })
  for (const daemon of site.daemons.splice(1)) await daemon.stop() // what the smart host answered is recorded with it
  await site.fill()
  ledger.auditDeliveries()
  await auditTraces(ledger, site.one.rest)
  await auditCaptures(ledger, site.one.rest)
  await site.end()
  const summary = `seed ${seed}, ${ledger.entries.size} messages, ${ledger.acked('relay').length} acknowledged for relay, ${ledger.acked('capture').length} for capture, ${ledger.duplicated().length} delivered twice inside the window, ${ledger.problems.length} problems`
  return { problems: ledger.problems, summary }
}

function startClients({ daemons, ledger, logins }: Site, random: Seeded, number: number, over: AbortSignal): Promise<void>[] {
  return daemons.flatMap((daemon, at) => {
    const load = (name: string): Load => ({
      ledger,
      over,
      name: `${number}-${at}-${name}`,
      most: mostPerClient,
      random: random.branch(`${at} ${name}`),
    })
    const port = portOf(daemon.addresses.submission[0])
    return [
      smtpLoad(load('a'), { port, security: 'none', login: logins.relay, fate: 'relay' }),
      smtpLoad(load('b'), { port, security: 'none', login: logins.capture, fate: 'capture' }),
      restLoad(load('c'), daemon.rest),
      repeatKeys(load('d'), daemon.rest),
    ]
  })
}
