/** Environment of a crash test: a data folder, a smart host that stays up, and successive runs of the daemon. */
import { waiting } from '../support/waits.ts'
import { Daemon, newAdminKey, portOf, runCommand, type DaemonOptions, type Exit } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { domainOf } from './load.ts'
import type { Fate, Ledger } from './ledger.ts'

/** Short retry intervals, so that deferred mail arrives during the test; no ballast, so that starts are short. */
const environment = { POSTERN_DELIVERY_RETRY_SECONDS: '1,1,2', POSTERN_DELIVERY_JITTER: '0.1', POSTERN_STORE_BALLAST_BYTES: '0' }

export class CrashServer implements AsyncDisposable {
  readonly sink: Sink
  /** Duration of the starts in milliseconds, if they completed. */
  readonly starts: number[] = []
  logins!: Readonly<Record<Fate, Login>>
  #options: DaemonOptions
  #adminKey = newAdminKey()
  #lifetime = new AsyncDisposableStack()
  #daemon: Daemon | undefined

  private constructor(sink: Sink, options: DaemonOptions) {
    this.sink = sink
    this.#options = options
  }

  /** Creates folder and smart host, and sets up the route in a first run that stays active. */
  static async build(ledger: Ledger): Promise<CrashServer> {
    await using cleanup = new AsyncDisposableStack()
    const folder = cleanup.use(await temporaryFolder('crash'))
    const sink = cleanup.use(await Sink.listen())
    sink.on('delivery', (delivery) => ledger.delivered(delivery))
    const server = new CrashServer(sink, { folder: folder.path, env: environment })
    cleanup.defer(async () => server.#daemon?.[Symbol.asyncDispose]())
    await server.start()
    server.logins = await server.#provision()
    server.#lifetime = cleanup.move()
    return server
  }

  get daemon(): Daemon {
    if (!this.#daemon) throw new Error('the daemon was never started')
    return this.#daemon
  }

  /** Starts the next run without waiting for it. */
  async launch(): Promise<Daemon> {
    this.#daemon = await Daemon.launch(this.#options, this.#adminKey)
    return this.#daemon
  }

  /** Starts the next run and waits until it serves. */
  async start(): Promise<Daemon> {
    const begun = performance.now()
    const daemon = await this.launch()
    await waiting('the daemon is ready', daemon.ready)
    this.starts.push(performance.now() - begun)
    return daemon
  }

  /** Verifies the store of a stopped daemon. */
  verify(): Promise<Exit & { readonly output: string }> {
    return runCommand(this.#options, 'verify')
  }

  submissionPort(index: number): number {
    return portOf(this.daemon.addresses.submission[index])
  }

  get implicitTlsPort(): number {
    return portOf(this.daemon.addresses.submissions[0])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lifetime.disposeAsync()
  }

  async #provision(): Promise<Readonly<Record<Fate, Login>>> {
    const { rest } = this.daemon
    const relay = await makeDestination(rest, { name: 'smart host', port: this.sink.port, mode: 'live' })
    const capture = await makeDestination(rest, { name: 'sandbox', port: this.sink.port, mode: 'sandbox' })
    await makeRoute(rest, relay, domainOf.relay)
    await makeRoute(rest, capture, domainOf.capture)
    const allowed = { allowed_from_domains: Object.values(domainOf) }
    return { relay: await makeLogin(rest, relay, allowed), capture: await makeLogin(rest, capture, allowed) }
  }
}
