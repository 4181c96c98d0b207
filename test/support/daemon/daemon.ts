/**
 * The daemon as its operator sees it: a child process with environment variables, a ready file, signals and logs. This module uses no code
 * of the daemon.
 */
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { watch, readFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waiting } from '../waits.ts'
import { RestClient } from './rest.ts'
import { storeSettings } from './store-of-test.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const main = join(root, 'daemon', 'postern.js')
/** The path of a single binary that all tests run instead of the sources. */
const binaryOfAll = process.env['POSTERN_TEST_BINARY']
/** The cache of compiled code, which a daemon keeps in its data folder. All starts share it here, since data folders are new. */
const compiled = join(root, 'node_modules', '.cache', 'postern')
/** The flags of `npm start`, so that tests and measurements run the same program as users. */
const startFlags = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }).scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--'))

/** The addresses of a daemon that is ready, as its ready file lists them. */
export interface Addresses {
  readonly http: string
  readonly https: readonly string[]
  readonly acme: readonly string[]
  readonly submission: readonly string[]
  readonly submissions: readonly string[]
  readonly mx: readonly string[]
  readonly sites: readonly string[]
  readonly pid: number
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface DaemonOptions {
  /** The folder of the ready file. Its `data` is the daemon's data folder unless `dataDir` is set. */
  readonly folder: string
  readonly dataDir?: string
  readonly env?: Readonly<Record<string, string>>
  /** Id of the user that commands run as. Only root may set another user. */
  readonly user?: number
  /** The path of a single binary that runs instead of the sources. */
  readonly binary?: string
  /** A command put before the daemon's own, such as a tracer. */
  readonly wrapper?: readonly string[]
}

/** Returns a new administrator key for the daemon. */
export const newAdminKey = (): string => `svckey_${randomBytes(36).toString('base64url')}`

/** The port of an address as the ready file writes it. */
export const portOf = (address: string | undefined): number => Number(/:(\d+)$/.exec(address ?? '')?.[1])

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A process of the daemon. Launch again with the same folder and key for the next process. */
export class Daemon implements AsyncDisposable {
  readonly adminKey: string
  /** Resolves with the addresses when the ready file exists; rejects if the process ends earlier. */
  readonly ready: Promise<Addresses>
  readonly exited: Promise<Exit>
  #child: ChildProcess
  #addresses: Addresses | undefined
  #log: string[] = []
  #stop = new AbortController()
  #rest: RestClient | undefined

  private constructor(child: ChildProcess, adminKey: string, readyFile: string) {
    this.adminKey = adminKey
    this.#child = child
    running.add(child)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => this.#keep(chunk.toString('utf8')))
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => this.#keep(String(error)))
      child.once('close', (code, signal) => {
        running.delete(child)
        this.#stop.abort()
        resolve({ code, signal })
      })
    })
    this.ready = this.#awaitReady(readyFile)
    this.ready.catch(() => undefined)
  }

  /** Spawns the daemon. `ready` resolves when it serves. */
  static async launch(options: DaemonOptions, adminKey = newAdminKey()): Promise<Daemon> {
    const readyFile = join(options.folder, 'ready', 'addresses.json')
    await mkdir(dirname(readyFile), { recursive: true })
    await rm(readyFile, { force: true })
    const [command, ...rest] = [...(options.wrapper ?? []), ...program(options, startFlags), 'serve', '--ready-file', readyFile]
    const child = spawn(String(command), rest, {
      cwd: root,
      env: { ...(await storeSettings(dataDirOf(options))), ...environment(options, adminKey) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new Daemon(child, adminKey, readyFile)
  }

  /** Launches and waits until it serves. */
  static async start(options: DaemonOptions, adminKey?: string): Promise<Daemon> {
    const daemon = await Daemon.launch(options, adminKey)
    await waiting('the daemon is ready', daemon.ready)
    return daemon
  }

  get addresses(): Addresses {
    if (!this.#addresses) throw new Error('the daemon is not ready')
    return this.#addresses
  }

  get log(): string {
    return this.#log.join('')
  }

  /** Resolves when the log matches; rejects if the process ends earlier. */
  async said(what: RegExp): Promise<void> {
    const outputs = [this.#child.stdout, this.#child.stderr].filter((out) => out !== null)
    const heard = (): Promise<unknown> => Promise.race(outputs.map((out) => once(out, 'data')))
    while (!what.test(this.log)) {
      const isOver = await Promise.race([heard().then(() => false), this.exited.then(() => true)])
      if (isOver && !what.test(this.log)) throw new Error(`the daemon ended without a word of ${String(what)}:\n${this.log.slice(-2000)}`)
    }
  }

  /** The REST client of this process, with the administrator's key. */
  get rest(): RestClient {
    this.#rest ??= new RestClient(this.addresses.http, this.adminKey)
    return this.#rest
  }

  /** Sends SIGTERM and returns the exit. Throws if it takes longer than the promised 30 s. */
  async stop(): Promise<Exit> {
    this.#signal('SIGTERM')
    return waiting('the daemon ends after SIGTERM', this.exited)
  }

  /** Sends SIGKILL, as the kernel's memory killer does; a power cut has the same effect on a process. */
  async kill(): Promise<Exit> {
    this.#signal('SIGKILL')
    return this.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rest?.[Symbol.dispose]()
    await this.kill()
  }

  #signal(name: NodeJS.Signals): void {
    const pid = this.#addresses?.pid ?? this.#child.pid
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || pid === undefined) return
    try {
      process.kill(pid, name)
    } catch {
      this.#child.kill(name) // the daemon has ended; a wrapper may still run
    }
  }

  #keep(text: string): void {
    this.#log.push(text)
    if (this.#log.length > 4000) this.#log.splice(0, 2000)
  }

  async #awaitReady(readyFile: string): Promise<Addresses> {
    const { promise, resolve, reject } = Promise.withResolvers<Addresses>()
    const look = (): void => {
      readAddresses(readyFile).then((found) => found && resolve(found), reject)
    }
    const watcher = watch(dirname(readyFile), look)
    this.#stop.signal.addEventListener('abort', () => reject(new Error(`the daemon ended before it was ready:\n${this.log.slice(-2000)}`)))
    look()
    try {
      this.#addresses = await promise
      return this.#addresses
    } finally {
      watcher.close()
    }
  }
}

/** Starts another command of the daemon, such as `tail`. */
export function spawnCommand(options: DaemonOptions, ...args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
  const [command, ...rest] = [...program(options), ...args]
  return spawn(String(command), rest, {
    cwd: root,
    env: environment(options, newAdminKey()),
    ...(options.user !== undefined && { uid: options.user, gid: options.user }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

const program = ({ binary = binaryOfAll }: DaemonOptions, flags: readonly string[] = []): readonly string[] =>
  binary === undefined ? [process.execPath, ...flags, main] : [binary]

/** For external programs that run the command line: its words, and its environment variables. */
export const programOf = (options: DaemonOptions): { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv } => ({
  args: [process.execPath, main],
  env: environment(options, newAdminKey()),
})

/** Runs another command of the daemon, such as `verify`, to its end. */
export async function runCommand(options: DaemonOptions, ...args: readonly string[]): Promise<Exit & { readonly output: string }> {
  const store = await storeSettings(dataDirOf(options))
  const child = spawnCommand({ ...options, env: { ...store, ...options.env } }, ...args)
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  try {
    const [code, signal] = await waiting(`${args[0]} ends`, closed)
    return { code, signal, output }
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`${String(error)}\n${output.slice(-2000)}`, { cause: error })
  } finally {
    running.delete(child)
  }
}

/** Returns the addresses, or undefined if the file is missing or incomplete. */
async function readAddresses(path: string): Promise<Addresses | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Addresses
  } catch {
    return undefined
  }
}

const dataDirOf = ({ folder, dataDir }: Pick<DaemonOptions, 'folder' | 'dataDir'>): string => dataDir ?? join(folder, 'data')

function environment({ folder, dataDir, env }: DaemonOptions, adminKey: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_') && name !== 'NODE_ENV')
  return {
    ...Object.fromEntries(inherited),
    NODE_COMPILE_CACHE: compiled,
    POSTERN_DATA_DIR: dataDir ?? dataDirOf({ folder }),
    POSTERN_HTTP_LISTEN: '127.0.0.1:0',
    POSTERN_DOCTOR_TIME_SERVERS: '',
    POSTERN_SUBMISSION_LISTEN: '127.0.0.1:0,127.0.0.1:0',
    POSTERN_SUBMISSIONS_LISTEN: '127.0.0.1:0',
    POSTERN_MX_LISTEN: '127.0.0.1:0',
    POSTERN_ADMIN_KEY: adminKey,
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32',
    POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback',
    ...env,
  }
}
