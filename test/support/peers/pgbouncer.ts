/** A PgBouncer for one test, in front of a PostgreSQL server. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPort } from '../network/program-port.ts'
import type { Databases } from './databases.ts'
import { asServer, give } from './postgresql.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export class Pgbouncer implements AsyncDisposable {
  readonly port: number
  readonly #folder: string
  readonly #server: ChildProcess
  readonly #configure: (mode: PoolMode) => void

  private constructor(folder: string, port: number, server: ChildProcess, configure: (mode: PoolMode) => void) {
    this.#folder = folder
    this.port = port
    this.#server = server
    this.#configure = configure
  }

  /** Starts a PgBouncer; resolves when it accepts connections. `further`: settings such as `default_pool_size = 3`. */
  static async before({ port: behind }: Databases, mode: PoolMode, further: readonly string[] = []): Promise<Pgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'postern-pgbouncer-'))
    const [port, file] = [await programPort(), join(folder, 'pgbouncer.ini')]
    const configure = (now: PoolMode): void =>
      writeFileSync(
        file,
        [
          `[databases]\n* = host=127.0.0.1 port=${behind} user=postern`,
          `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = ${now}`,
          ...further,
        ].join('\n'),
      )
    configure(mode)
    await give(folder)
    const server = spawn(...asServer('/usr/sbin/pgbouncer', [file]), { stdio: ['ignore', 'ignore', 'pipe'] })
    await isUp(server)
    return new Pgbouncer(folder, port, server, configure)
  }

  /** Returns the address of the same database through the pooler. */
  address(database: string): string {
    const url = new URL(database)
    url.port = String(this.port)
    return url.href
  }

  /** Applies to later transactions, also on open connections. */
  setMode(mode: PoolMode): void {
    this.#configure(mode)
    this.#server.kill('SIGHUP')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#server, 'exit')
    this.#server.kill('SIGQUIT')
    await exited
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Standard error must be read to the end: the server ends if it cannot write to it. */
async function isUp(server: ChildProcess): Promise<void> {
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.stderr?.on('data', (text: Buffer) => /process up/.test((said += text.toString())) && resolve())
  server.once('exit', () => reject(new Error(`PgBouncer did not start: ${said}`)))
  await promise
}
