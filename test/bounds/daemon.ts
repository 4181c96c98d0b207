/** A daemon with the probe, and the cost of a request to it. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Daemon } from '../support/daemon/daemon.ts'
import { probeVariable, type Cost, type Order, type Served } from './daemon-probe.ts'

const probe = new URL('./daemon-probe.ts', import.meta.url)

export class MeasuredDaemon implements AsyncDisposable {
  readonly daemon: Daemon
  readonly #socket: Socket
  readonly #answers: AsyncIterator<string>

  private constructor(daemon: Daemon, socket: Socket) {
    this.daemon = daemon
    this.#socket = socket
    this.#answers = createInterface(socket)[Symbol.asyncIterator]()
  }

  static async start(folder: string, env: Readonly<Record<string, string>> = {}): Promise<MeasuredDaemon> {
    const path = join(folder, 'probe.sock')
    const options = { NODE_OPTIONS: `--import=${fileURLToPath(probe)}`, [probeVariable]: path, POSTERN_LOG_LEVEL: 'warn' }
    const daemon = await Daemon.start({ folder, env: { ...options, ...env } })
    const socket = connect(path)
    await once(socket, 'connect')
    return new MeasuredDaemon(daemon, socket)
  }

  operations(): Promise<readonly Served[]> {
    return this.#order('operations')
  }

  /** Measures the daemon's cost of `work`, including later work if `work` announces it. */
  async cost(work: () => Promise<boolean>): Promise<Cost> {
    await this.#order('begin')
    if (await work()) await this.#order('settle')
    return this.#order('end')
  }

  async settled(): Promise<void> {
    await this.#order('settle')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
    await this.daemon[Symbol.asyncDispose]()
  }

  async #order<T>(order: Order): Promise<T> {
    this.#socket.write(`${order}\n`)
    const { value } = await this.#answers.next()
    return JSON.parse(String(value)) as T
  }
}
