/** A PostgreSQL of a test's own: a cluster in a temporary folder, on a Unix socket and a port of loopback. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, globSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { programPort } from '../network/program-port.ts'
import { SteppedClock } from './stepped-clock.ts'

const programs = (): string => globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1) ?? ''
const isRoot = process.getuid?.() === 0
/** The server does not run as root. */
export const asServer = (command: string, words: readonly string[]): readonly [string, string[]] =>
  isRoot ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...words]] : [command, [...words]]

/** As little as durability allows: tests look at what is written, not at how fast. */
const settings = ['listen_addresses=127.0.0.1', 'max_connections=800', 'shared_buffers=32MB', 'deadlock_timeout=100ms', 'autovacuum=off']

/** A standby takes connections that read. */
const isReady = /ready to accept (?:read-only )?connections/

export class Postgresql implements AsyncDisposable {
  readonly folder: string
  readonly port: number
  readonly #settings: readonly string[]
  #server: ChildProcess | undefined
  #clock: SteppedClock | undefined
  readonly #frozen: number[] = []
  #databases = 0

  private constructor(folder: string, port: number, further: readonly string[] = []) {
    this.folder = folder
    this.port = port
    this.#settings = [...settings, ...further]
  }

  /** Each of `further` is a setting such as `autovacuum=on`, and comes before those of all tests. */
  static async start(further: readonly string[] = []): Promise<Postgresql> {
    const folder = mkdtempSync(join(tmpdir(), 'postern-pg-'))
    await give(folder)
    run(join(programs(), 'initdb'), [
      '-D',
      join(folder, 'data'),
      '-U',
      'postern',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-instructions',
    ])
    const postgresql = new Postgresql(folder, await programPort(), further)
    await postgresql.startServer()
    return postgresql
  }

  /** A standby that follows another server. */
  static async standbyOf(primary: Postgresql): Promise<Postgresql> {
    const folder = mkdtempSync(join(tmpdir(), 'postern-pg-'))
    await give(folder)
    const standby = new Postgresql(folder, await programPort(), ['wal_retrieve_retry_interval=200ms'])
    await standby.#follow(primary)
    return standby
  }

  /** Gives up what it has, and comes back as a standby of the server that was promoted in its place. */
  async rejoin(primary: Postgresql): Promise<void> {
    await this.stopServer('SIGQUIT')
    await rm(join(this.folder, 'data'), { recursive: true })
    await this.#follow(primary)
  }

  async #follow(primary: Postgresql): Promise<void> {
    const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postern']
    run(join(programs(), 'pg_basebackup'), [...source, '-D', join(this.folder, 'data'), '-R', '-c', 'fast'])
    await this.startServer()
  }

  /** Commits wait for the standby from now on; resolves when it has caught up. */
  async replicateSynchronously(): Promise<void> {
    await this.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await this.query('SELECT pg_reload_conf()')
    while ((await this.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0) await wait(50)
  }

  /** Its time of day can be stepped from the next start of the server on. Needs the peer `faketime`. */
  clock(): SteppedClock {
    return (this.#clock ??= new SteppedClock(join(this.folder, 'clock'), 0))
  }

  /** All its processes stand still from now on, as on a machine that hangs: connections stay open, and no answer comes. */
  freeze(): void {
    this.#frozen.push(this.pid)
    this.#server?.kill('SIGSTOP') // begins no more
    this.#frozen.push(...childrenOf(this.pid))
    for (const pid of this.#frozen) signal(pid, 'SIGSTOP')
  }

  /** A standby takes writes from then on. */
  promote(): void {
    run(join(programs(), 'pg_ctl'), ['promote', '-w', '-D', join(this.folder, 'data')])
  }

  /** Runs until it is stopped; resolves when it takes connections. */
  async startServer(): Promise<void> {
    const words = [
      '-D',
      join(this.folder, 'data'),
      '-k',
      this.folder,
      '-p',
      String(this.port),
      ...this.#settings.flatMap((one) => ['-c', one]),
    ]
    const program = join(programs(), 'postgres')
    const variables = Object.entries(this.#clock?.env ?? {}).map(([name, value]) => `${name}=${value}`)
    const command = variables.length > 0 ? asServer('env', [...variables, program, ...words]) : asServer(program, words)
    const server = spawn(...command, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#server = server
    let said = ''
    for await (const text of server.stderr as AsyncIterable<Buffer>) {
      said += text.toString()
      if (isReady.test(said)) break
    }
    if (!isReady.test(said)) throw new Error(`PostgreSQL did not start: ${said}`)
    server.stderr?.resume()
  }

  /** `SIGINT` ends it in order, `SIGQUIT` at once, as a crash does. */
  async stopServer(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }

  /** Of the process that all others of the server descend from. */
  get pid(): number {
    return this.#server?.pid ?? NaN
  }

  address(database = 'postgres'): string {
    return `postgresql://postern@127.0.0.1:${this.port}/${database}`
  }

  /** A database of its own, empty. */
  async database(): Promise<string> {
    const name = `test_${++this.#databases}`
    await this.query(`CREATE DATABASE ${name} TEMPLATE template0`)
    return this.address(name)
  }

  async query(text: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.address(database) })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text)).rows
    } finally {
      await client.end()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#frozen.length > 0) this.#server?.kill('SIGQUIT') // what it does first when it goes on
    for (const pid of this.#frozen) signal(pid, 'SIGCONT')
    await this.stopServer('SIGQUIT')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A folder of this process to the server. */
export async function give(folder: string): Promise<void> {
  if (!isRoot) return
  const idOf = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  await promisify(chown)(folder, idOf('-u'), idOf('-g'))
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** A process may have ended by itself. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function run(command: string, words: readonly string[]): void {
  execFileSync(...asServer(command, words), { stdio: ['ignore', 'ignore', 'pipe'] })
}
