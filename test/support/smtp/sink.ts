/**
 * An SMTP server that follows the test at any step of the dialog: accept, refuse, defer, hold, drop or malformed replies. It stores every
 * message that it answers with 250. Ledgers compare its deliveries with the sent messages.
 */
import { EventEmitter, once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { goodCertificate } from '../../protocols/relay/certificates.ts'
import type { Delivery, SinkHost, SinkOptions, SinkScript, SinkStep } from './sink-script.ts'
import { waiting } from '../waits.ts'
import { SinkSession } from './sink-session.ts'

interface SinkEvents {
  delivery: [Delivery]
  /** A step was reached, or a connection was opened or closed. */
  change: []
}

/** Listens on loopback until disposed. */
export class Sink extends EventEmitter<SinkEvents> implements SinkHost, AsyncDisposable {
  readonly options: SinkOptions
  /** May change at any time. Open sessions use it at their next step. */
  script: SinkScript
  readonly deliveries: Delivery[] = []
  /** All received commands, in order, over all connections. */
  readonly lines: string[] = []
  readonly connections: SinkSession[] = []
  port = 0
  readonly #reached = new Map<SinkStep, number>()
  readonly #server: Server

  constructor(options: SinkOptions = {}) {
    super()
    this.setMaxListeners(0)
    this.options = options
    this.script = options.script ?? {}
    const accept = (socket: Socket): void => void this.connections.push(new SinkSession(this, socket, this.connections.length))
    const certificate = options.certificate ?? goodCertificate
    this.#server = options.security === 'tls' ? createTlsServer(certificate, accept) : createServer(accept)
    this.#server.on('tlsClientError', () => undefined)
  }

  /** Starts a sink on a free port. */
  static listen(options?: SinkOptions): Promise<Sink> {
    return new Sink(options).listen()
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  /** Resolves with the first matching delivery, past or future. */
  delivered(fits: (delivery: Delivery) => boolean): Promise<Delivery> {
    return waiting('a delivery at the sink', this.#delivered(fits))
  }

  /** Resolves when this step has been reached this many times since the start of the sink. */
  reached(step: SinkStep, times = 1): Promise<void> {
    return waiting(
      `the sink reaches ${step}, ${times} times`,
      this.#until(() => (this.#reached.get(step) ?? 0) >= times),
    )
  }

  /** Resolves when this many connections are open. */
  open(count: number): Promise<void> {
    const areOpen = (): boolean => this.connections.filter((connection) => connection.open).length === count
    return waiting(`${count} open connections at the sink`, this.#until(areOpen))
  }

  /** Sends the answers that are on hold. */
  release(): void {
    for (const connection of this.connections) connection.release()
  }

  /** Breaks every open connection, like a smart host that restarts. */
  dropConnections(): void {
    for (const connection of this.connections) connection.socket.destroy()
  }

  note(step?: SinkStep): void {
    if (step !== undefined) this.#reached.set(step, (this.#reached.get(step) ?? 0) + 1)
    this.emit('change')
  }

  keep(delivery: Delivery): void {
    this.deliveries.push(delivery)
    this.emit('delivery', delivery)
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await once(this, 'change')
  }

  async #delivered(fits: (delivery: Delivery) => boolean): Promise<Delivery> {
    for (;;) {
      const found = this.deliveries.find(fits)
      if (found) return found
      await once(this, 'delivery')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropConnections()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }
}
