/**
 * The daemon in this process, composed and started as by `serve`: a real store in a temporary folder, real sockets on free loopback ports,
 * and the real lifecycle. Only outgoing connections, time and randomness are replaced. A test fails if the daemon logged an error that the
 * test did not remove from `errors`.
 */
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { formatEndpoint } from '#config/settings/formats.ts'
import { loadConfig, type Config } from '#config/settings/load.ts'
import type { Clock } from '#core/clock.ts'
import { noMeter } from '#core/fairness/thread-meter.ts'
import type { RecordResolver, Resolver } from '#core/outbound/resolver.ts'
import { Lifecycle } from '../../../daemon/process/lifecycle.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { prepareDataFolder } from '../../../daemon/process/data-folder.ts'
import { type Daemon, type Replacements, partsOf, type Resolve } from '../../../daemon/composition/parts.ts'
import type { Observer } from '../../../daemon/observability/observer.ts'
import type { Listening } from '../../../daemon/process/ready-file.ts'
import { open, start } from '../../../daemon/start.ts'
import { markOpen } from '../left-open.ts'
import { CuttableKv } from '../cuttable-kv.ts'
import { FakeClock } from '../fake-clock.ts'
import { Heard } from '../overhear.ts'
import { CountedActivity } from './activity.ts'
import { RestClient } from './rest.ts'
import { storeSettings } from './store-of-test.ts'
import { temporaryFolder } from './workspace.ts'

/** The administrator of the first organization. */
/** For the command line on the same machine. */
export const operatorToken = 'operator-token'
export const adminKey = `svckey_${'a'.repeat(43)}`
/** The master key of every store in these tests. */
export const masterKey = Buffer.alloc(32, 7)

export interface StartOptions {
  /** Settings of the operator, which override the defaults of these tests. */
  readonly env?: Readonly<Record<string, string>>
  /** Changes that no setting of an operator can make. */
  readonly change?: (config: Config) => Config
  readonly replacements?: Omit<Replacements, 'kv'>
}

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

/** A daemon that is open but not started: its store is open, and each part is created at its first use. */
export interface OpenedDaemon {
  readonly part: Resolve
  readonly config: Config
  /** Its data folder, which the next process opens again. */
  readonly dataDir: string
  /** The store that all parts use. */
  readonly kv: CuttableKv
  /** A `FakeClock` unless the test passed another clock. */
  readonly clock: Clock
  readonly organizationId: string
  /** The sign-in link of the owner; undefined if the organization has an owner. */
  readonly ownerLink: string | undefined
  /** Log lines from level info. */
  readonly log: LogLine[]
  /** Logged errors. Remaining ones fail the test. */
  readonly errors: LogLine[]
  /** Resolves when no work is in progress and no timer is due. Waits while a peer gives no answer. */
  settled(): Promise<void>
  /** Moves the fake clock to each due timer in turn, and settles after each. */
  pass(ms: number): Promise<void>
  /** Resolves with the arguments of the first matching call of the observer, past or future. */
  readonly saw: Heard<Observer>['saw']
  /** Stops in order, as after SIGTERM. */
  stop(): Promise<void>
  /** Ends as by `kill -9`: no pending work completes, and everything not durable is lost. */
  crash(): Promise<void>
}

/** A started daemon. */
export interface StartedDaemon extends OpenedDaemon, Daemon {
  readonly part: Resolve
  /** `host:port` of each listener. */
  readonly addresses: { readonly [Name in 'http' | 'https' | 'acme' | 'submission' | 'submissions' | 'mx' | 'sites']: string }
  /** The administrator of the first organization. */
  readonly rest: RestClient
  /** A client with another key, closed with the daemon. */
  client(key: string): RestClient
  /** Starts the next process on the same store. This one must have ended. */
  again(changes?: StartOptions): Promise<StartedDaemon>
}

const settings = {
  POSTERN_MASTER_KEY: masterKey.toString('base64url'),
  POSTERN_ADMIN_KEY: adminKey,
  POSTERN_HTTP_LISTEN: '127.0.0.1:0',
  POSTERN_SUBMISSION_LISTEN: '127.0.0.1:0',
  POSTERN_SUBMISSIONS_LISTEN: '127.0.0.1:0',
  POSTERN_MX_LISTEN: '127.0.0.1:0',
  POSTERN_STORE_BALLAST_BYTES: '0',
  POSTERN_PLAN: 'enterprise',
}

const nowhere: Resolver & RecordResolver = {
  resolve4: async () => [],
  resolve6: async () => [],
  resolveTxt: async () => [],
  resolveMx: async () => [],
}

const outside: Replacements = {
  random: () => 0.5,
  resolver: nowhere,
  lookUp: () => Promise.reject(Object.assign(new Error('there is no DNS here'), { code: 'ENOTFOUND' })),
  lagMs: Infinity, // A busy machine fails no test.
  meter: noMeter,
}

type Test = Pick<ExecutionContext, 'teardown'>

/** A folder for the data of one daemon, removed after the test. */
export async function dataFolder(t: Test): Promise<string> {
  const folder = await temporaryFolder('daemon')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const dataDir = join(folder.path, 'data')
  await prepareDataFolder(dataDir)
  return dataDir
}

/** Starts a daemon with a new store; it ends with the test. */
export const startDaemon = async (t: Test, options: StartOptions = {}): Promise<StartedDaemon> => live(t, await dataFolder(t), options)

/** Opens a daemon on a data folder; it ends with the test. */
export async function openDaemon(
  t: Test,
  dataDir: string,
  { env, change = (config) => config, replacements: given }: StartOptions = {},
): Promise<OpenedDaemon & { readonly lifecycle: Lifecycle }> {
  const own = { ...settings, POSTERN_DATA_DIR: dataDir, ...(await storeSettings(dataDir)) }
  const config = change(loadConfig({ env: { ...own, ...env }, readFile: () => '{}' }))
  const book = new LogBook()
  const log = createLogger('info', book)
  const lifecycle = new Lifecycle(log, config.shutdownSeconds, { events: new EventEmitter(), exit: () => {} })
  const activity = new CountedActivity()
  const { clock = new FakeClock() } = given ?? {}
  const fake = clock instanceof FakeClock ? clock : undefined
  let store: CuttableKv | undefined
  const closed = markOpen('an open daemon')
  const end = async (graceSeconds?: number): Promise<void> => {
    await lifecycle.stop(graceSeconds)
    closed()
  }
  const replacements = { ...outside, ...given, clock, activity, kv: (kv) => (store = new CuttableKv(kv, activity)) } satisfies Replacements
  t.teardown(async () => {
    await end()
    if (book.errors.length > 0) throw new AggregateError(book.errors, `the daemon failed inside: ${JSON.stringify(book.errors)}`)
  })
  const { part, bootstrapped } = await open(config, log, lifecycle, { version: '1.2.3', operatorToken }, replacements)
  const kv = store as CuttableKv
  const heard = new Heard(part('observer'))
  return {
    ...{ part, config, dataDir, kv, clock, lifecycle, log: book.lines, errors: book.errors },
    organizationId: bootstrapped.organizationId,
    ownerLink: bootstrapped.ownerLink,
    settled: () => activity.settled(fake),
    saw: (name, fits) => heard.saw(name, fits),
    async pass(ms) {
      if (!fake) throw new Error('pass() needs a FakeClock')
      await activity.pass(fake, ms)
    },
    stop: () => end(),
    async crash() {
      await kv.cut()
      book.close()
      await end(0)
      await kv[Symbol.asyncDispose]()
    },
  }
}

async function live(t: Test, dataDir: string, options: StartOptions): Promise<StartedDaemon> {
  const opened = await openDaemon(t, dataDir, options)
  const listening = await start(opened.part, opened.config, opened.lifecycle)
  const first = ([one]: Listening['mx']): string => (one ? formatEndpoint(one) : '')
  const { https, acme, submission, submissions, mx, sites } = listening
  const addresses = {
    ...{ http: formatEndpoint(listening.http), https: first(https), acme: first(acme) },
    ...{ submission: first(submission), submissions: first(submissions), mx: first(mx), sites: first(sites) },
  }
  const clients: RestClient[] = []
  const hangUp = (): void => {
    for (const one of clients.splice(0)) one[Symbol.dispose]()
  }
  t.teardown(hangUp)
  const client = (key: string): RestClient => {
    const made = new RestClient(addresses.http, key)
    clients.push(made)
    return made
  }
  const ended = (end: () => Promise<void>) => (): Promise<void> => {
    hangUp()
    return end()
  }
  return {
    ...{ ...opened, ...partsOf(opened.part), addresses, client, rest: client(adminKey) },
    ...{ stop: ended(opened.stop), crash: ended(opened.crash) },
    again: (changes = {}) =>
      live(t, dataDir, {
        ...options,
        ...changes,
        replacements: { clock: opened.clock, ...(changes.replacements ?? options.replacements) },
      }),
  }
}

/** Collects log lines until the daemon crashes. */
class LogBook {
  readonly lines: LogLine[] = []
  readonly errors: LogLine[] = []
  #closed = false

  write(text: string): void {
    if (this.#closed) return
    const line = JSON.parse(text) as LogLine
    this.lines.push(line)
    if (line.level === 'error' || line.level === 'fatal') this.errors.push(line)
  }

  close(): void {
    this.#closed = true
  }
}
