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

  /** Takes connections when it resolves. `further`: settings such as `default_pool_size = 3`. */
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

  /** The same database, by way of this one. */
  address(database: string): string {
    const url = new URL(database)
    url.port = String(this.port)
    return url.href
  }

  /** For what ends its transaction from now on, also on connections that are there. */
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

/** Its standard error is read on to the end: it ends when it cannot say something. */
async function isUp(server: ChildProcess): Promise<void> {
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.stderr?.on('data', (text: Buffer) => /process up/.test((said += text.toString())) && resolve())
  server.once('exit', () => reject(new Error(`PgBouncer did not start: ${said}`)))
  await promise
}
