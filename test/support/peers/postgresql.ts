/** PostgreSQL servers of tests: the server of the run, and servers of single tests in temporary folders. */
import assert from 'node:assert'
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, globSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { TestFn } from '#test'
import { programPort } from '../network/program-port.ts'
import { Databases, SharedDatabases } from './databases.ts'
import { serviceOfRun } from './servers-of-run.ts'
import { SteppedClock } from './stepped-clock.ts'

const programs = (): string => globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1) ?? ''
const isRoot = process.getuid?.() === 0
/** Runs a command as the user of the server. The kernel ends it when this process dies. */
export function asServer(command: string, args: readonly string[]): readonly [string, string[]] {
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
  return ['setpriv', [...user, '--pdeathsig=QUIT', command, ...args]]
}

/** Minimal durability settings: tests check written data, not speed. */
const settings = ['listen_addresses=127.0.0.1', 'max_connections=800', 'shared_buffers=32MB', 'deadlock_timeout=100ms', 'autovacuum=off']

/** A standby accepts connections for reading. */
const isReady = /ready to accept (?:read-only )?connections/

/** Databases for the tests of a module, on the server of the run. A module that runs alone starts a server. */
export function databasesOf(test: TestFn): () => Databases {
  let databases: (Databases & AsyncDisposable) | undefined
  test.before(async () => {
    databases = await anyDatabases()
  })
  test.after.always(() => databases?.[Symbol.asyncDispose]())
  return () => databases ?? assert.fail('the tests have not begun')
}

/** Like `databasesOf`, for a single test. */
export async function anyDatabases(): Promise<Databases & AsyncDisposable> {
  const shared = await serviceOfRun('postgresql')
  return shared ? new SharedDatabases(shared.port) : Postgresql.start()
}

export class Postgresql extends Databases implements AsyncDisposable {
  readonly folder: string
  readonly #settings: readonly string[]
  #server: ChildProcess | undefined
  #clock: SteppedClock | undefined
  readonly #frozen: number[] = []

  private constructor(folder: string, port: number, further: readonly string[] = []) {
    super(port)
    this.folder = folder
    this.#settings = [...settings, ...further]
  }

  /** `further`: settings such as `autovacuum=on`, which override the defaults. `cluster`: a data folder to copy. */
  static async start(further: readonly string[] = [], cluster?: string): Promise<Postgresql> {
    const folder = mkdtempSync(join(tmpdir(), 'postern-pg-'))
    await give(folder)
    const source = cluster ?? (await serviceOfRun('cluster'))?.folder
    if (source === undefined) await makeCluster(join(folder, 'data'))
    else await run('cp', ['-a', source, join(folder, 'data')])
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

  /** Discards its data and returns as a standby of the promoted server. */
  async rejoin(primary: Postgresql): Promise<void> {
    await this.stopServer('SIGQUIT')
    await rm(join(this.folder, 'data'), { recursive: true })
    await this.#follow(primary)
  }

  async #follow(primary: Postgresql): Promise<void> {
    const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postern']
    await run(join(programs(), 'pg_basebackup'), [...source, '-D', join(this.folder, 'data'), '-R', '-c', 'fast'])
    await this.startServer()
  }

  /** From now on commits wait for the standby. Resolves when it has caught up. */
  async replicateSynchronously(): Promise<void> {
    await this.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await this.query('SELECT pg_reload_conf()')
    while ((await this.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0) await wait(50)
  }

  /** A clock that can be stepped, from the next start of the server. Needs the peer `faketime`. */
  clock(): SteppedClock {
    return (this.#clock ??= new SteppedClock(join(this.folder, 'clock'), 0))
  }

  /** Stops all its processes, as on a machine that hangs: connections stay open, and no answer arrives. */
  freeze(): void {
    this.#frozen.push(this.pid)
    this.#server?.kill('SIGSTOP') // starts no further processes
    this.#frozen.push(...childrenOf(this.pid))
    for (const pid of this.#frozen) signal(pid, 'SIGSTOP')
  }

  /** From now on the standby accepts writes. */
  promote(): void {
    execFileSync(...asServer(join(programs(), 'pg_ctl'), ['promote', '-w', '-D', join(this.folder, 'data')]), { stdio: 'ignore' })
  }

  /** Starts the server; resolves when it accepts connections. */
  async startServer(): Promise<void> {
    const args = [
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
    const command = variables.length > 0 ? asServer('env', [...variables, program, ...args]) : asServer(program, args)
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

  /** `SIGINT` stops it in order, `SIGQUIT` immediately, like a crash. */
  async stopServer(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }

  /** The process id of the parent of all other server processes. */
  get pid(): number {
    return this.#server?.pid ?? NaN
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#frozen.length > 0) this.#server?.kill('SIGQUIT') // takes effect when it continues
    for (const pid of this.#frozen) signal(pid, 'SIGCONT')
    await this.stopServer('SIGQUIT')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Creates the data folder of a server. The folder above it must belong to the server's user. */
export async function makeCluster(folder: string): Promise<void> {
  const args = ['-U', 'postern', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-instructions', '--no-sync']
  await run(join(programs(), 'initdb'), ['-D', folder, ...args])
}

/** Gives a folder of this process to the user of the server. */
export async function give(folder: string): Promise<void> {
  if (!isRoot) return
  const idOf = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  await promisify(chown)(folder, idOf('-u'), idOf('-g'))
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** The process may have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(...asServer(command, args))
}
